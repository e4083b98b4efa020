// load.json: the result of one load.
#pragma once

#include "loadgen/record/result.hpp"

#include <boost/json.hpp>

namespace heddle::report {

[[nodiscard]] boost::json::object load_json(const record::RunResult& result);

}  // namespace heddle::report
