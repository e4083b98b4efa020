// What all commands share.
#pragma once

#include "loadgen/engine/setup.hpp"
#include "loadgen/plan/plan.hpp"

#include <string>
#include <vector>

namespace heddle::load {

enum ExitCode : int { kComplete = 0, kFailed = 1, kUsage = 2, kNotMeasurable = 3, kInterrupted = 130 };

// To standard output. Throws std::runtime_error when it does not take all. Blocks as it does.
void print(const std::string& text);

// "heddle-load: TEXT" on standard error.
void tell(const std::string& text);

// What each request carries, read from its file. Throws std::invalid_argument. Blocks.
[[nodiscard]] std::vector<std::string> read_bodies(const plan::Plan& plan);

// The plan, checked against this host and ready to run. Throws std::invalid_argument, std::runtime_error or
// engine::NotMeasurable. Blocks (the resolver).
[[nodiscard]] engine::Setup prepare(const plan::Plan& plan, const std::vector<std::string>& bodies);

}  // namespace heddle::load
