// The measurements of a calibration, one run of the engine after the other.
#pragma once

#include "loadgen/calibrate/calibration.hpp"
#include "loadgen/engine/clock.hpp"

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace heddle::load {

// How long and how much. The defaults take under 30 s in all.
struct StepSizes {
  int repeats = 3;  // of each ceiling run
  engine::Nanos warmup = 300 * plan::kMillisecond;
  engine::Nanos ceiling = plan::kSecond;
  std::vector<std::int64_t> ceiling_connections{64, 1000};  // per thread
  engine::Nanos pacing = 3 * plan::kSecond;
  double pacing_share = 0.3;               // of the ceiling with the fewest connections
  std::int64_t many_connections = 10'000;  // in all, at many_rate
  double many_rate = 20'000;
  // One request in ten is due while the server stands still, so the 99th percentile from due lies within the
  // stall. Only these few connections can have a request on the wire meanwhile: far below one request in a
  // hundred, so the 99th percentile from sent lies outside.
  engine::Nanos stall = 200 * plan::kMillisecond;
  engine::Nanos stall_window = 2 * plan::kSecond;
  std::int64_t stall_connections = 4;
  double stall_rate = 10'000;  // less when that is more than a sixth of the ceiling
};
// Under 10 s.
[[nodiscard]] StepSizes quick_steps();

struct MeasureOptions {
  std::int64_t threads = 1;
  std::vector<int> cpus;  // of the engine threads; empty = the first ones
  std::optional<engine::Nanos> spin;
  StepSizes sizes;
  // Told at each step what is measured now, for people.
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

// SIGINT or SIGTERM came.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Starts one null server for each engine thread and runs all steps against them; everything in the result but
// utc, version and quick. Call it while this process has one thread. Throws Interrupted,
// std::invalid_argument (CPUs), engine::NotMeasurable (not even the small steps fit this host) or
// std::runtime_error (a run failed, and why). Blocks for the sum of the steps.
[[nodiscard]] Calibration measure_host(const MeasureOptions& options);

}  // namespace heddle::load
