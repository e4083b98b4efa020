// load.json: the result of one load.
#pragma once

#include "loadgen/record/result.hpp"

#include <boost/json.hpp>

namespace heddle::report {

// The document that docs/loadgen.md describes, schema 1. Times are in ms, lateness in us, stamps in ns; what
// was not measured or is not known is null. Never throws for a run that ended early: it has fewer stages, and
// no window then. Pure.
[[nodiscard]] boost::json::object load_json(const record::RunResult& result);

}  // namespace heddle::report
