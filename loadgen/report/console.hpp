// The result for people, as text.
#pragma once

#include "loadgen/record/result.hpp"

#include <string>

namespace heddle::report {

[[nodiscard]] std::string console_report(const record::RunResult& result);

}  // namespace heddle::report
