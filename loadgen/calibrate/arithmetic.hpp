// The arithmetic behind the calibration. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace heddle::load {

// A server stands still for `stall` within a window of `window` (any one unit) under a constant rate that is
// `utilisation` (0 to 1) of what it can serve. Request due x after the stall's begin waits stall - x, plus x
// times the utilisation in the queue: between 0 and `stall`, evenly, for stall / (1 - utilisation) of the
// window. The q-quantile of the latency from due is then
//   stall - (1 - q) window (1 - utilisation),
// or 0, the time of an answer without a stall, when the share of those who wait is below 1 - q.
[[nodiscard]] double stall_quantile(double stall, double window, double utilisation, double q);

struct CpuChoice {
  std::vector<int> threads;
  std::vector<int> servers;
  bool shared = false;  // there was no CPU left for the servers
};

// `asked` (or, when empty, the first `threads` of `available`) for the engine threads, the rest for the null
// servers, one for each thread. With none left they share all.
[[nodiscard]] CpuChoice choose_cpus(const std::vector<int>& available, const std::vector<int>& asked,
                                    std::int64_t threads);

}  // namespace heddle::load
