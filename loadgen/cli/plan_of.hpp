// The plan that the options of a command line describe.
#pragma once

#include "loadgen/cli/arguments.hpp"
#include "loadgen/plan/plan.hpp"

#include <string>

namespace heddle::load {

// For `url`. find-max gets one stage at a rate that it replaces. Throws UsageError or plan::PlanError.
[[nodiscard]] plan::Plan plan_of(const Arguments& arguments, const std::string& url);

// Threads, CPUs and spinning only: what a calibration needs. Throws UsageError.
[[nodiscard]] plan::Plan engine_plan_of(const Arguments& arguments);

}  // namespace heddle::load
