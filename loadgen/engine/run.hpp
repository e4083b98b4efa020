// Runs a plan from the first connect to the last answer.
#pragma once

#include "loadgen/engine/setup.hpp"
#include "loadgen/record/listener.hpp"

#include <csignal>

namespace heddle::engine {

// Blocks SIGINT and SIGTERM for this thread and those it starts: run_load() takes them itself. Call it first
// in main.
void block_stop_signals();

// The run's description for its listeners; the anchor is taken now.
[[nodiscard]] record::RunInfo describe(const Setup& setup);

// Starts the engine threads, takes them through connect phase, warm-up, drain, measure window and grace, and
// returns the outcome after listener.done(). Blocks for the length of the plan, plus connecting (at most the
// connect timeout), drain (2 s) and grace. SIGINT or SIGTERM end it early with status interrupted.
[[nodiscard]] record::RunResult run_load(const Setup& setup, const record::RunInfo& info,
                                         record::RunListener& listener);

}  // namespace heddle::engine
