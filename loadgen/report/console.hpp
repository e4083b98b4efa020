// The result for people, as text.
#pragma once

#include "loadgen/record/result.hpp"

#include <string>

namespace heddle::report {

// Several lines, the last with its line break. Times are in ms; "-" is a percentile without enough samples,
// ">=" a lower limit. Holds for a run that ended early, too: what it does not know is left out. Pure.
[[nodiscard]] std::string console_report(const record::RunResult& result);

}  // namespace heddle::report
