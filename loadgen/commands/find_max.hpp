// heddle-load find-max: the highest constant rate at which a server meets its objectives.
#pragma once

#include "loadgen/options.hpp"

namespace heddle::load {

// Runs the steps one after another, prints a line for each and the result. Returns the exit code. Throws
// UsageError when the folder for the results cannot be written, before anything is sent;
// engine::NotMeasurable; std::invalid_argument; std::runtime_error. Blocks for the whole search.
[[nodiscard]] int find_max(const Options& options);

}  // namespace heddle::load
