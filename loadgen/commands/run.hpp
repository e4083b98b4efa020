// heddle-load URL, heddle-load --plan FILE: one load.
#pragma once

#include "loadgen/options.hpp"

namespace heddle::load {

// Runs the load, judges its objectives, writes and prints the results. Returns the exit code. Throws
// UsageError when an output cannot be opened, before anything is sent; engine::NotMeasurable;
// std::invalid_argument for what the host does not take; std::runtime_error. Blocks for the whole load.
[[nodiscard]] int run(const Options& options);

}  // namespace heddle::load
