// Deadlines on a fixed grid, so that lateness never adds up.
#pragma once

#include <chrono>

namespace heddle::metrics {

using SteadyTime = std::chrono::steady_clock::time_point;

// The first of due, due + interval, due + 2 intervals, ... that lies after `now`. Deadlines that were slept
// through are skipped: one late row, not a burst.
[[nodiscard]] constexpr SteadyTime next_after(SteadyTime due, SteadyTime now,
                                              std::chrono::steady_clock::duration interval) {
  if (now < due) return due;
  return due + ((now - due) / interval + 1) * interval;
}

}  // namespace heddle::metrics
