// Service level objectives and what came of them, as JSON and as text.
#pragma once

#include "loadgen/record/result.hpp"

#include <string>
#include <vector>

#include <boost/json.hpp>

namespace heddle::report {

// The list "slo" of load.json: objective, limit, unit, value, state, reason.
[[nodiscard]] boost::json::array slo_json(const std::vector<record::SloResult>& results);

// A line per objective for the console, under a head line; empty when there is none.
[[nodiscard]] std::string slo_table(const std::vector<record::SloResult>& results);

}  // namespace heddle::report
