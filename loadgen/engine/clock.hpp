// The engine's clock: CLOCK_MONOTONIC in ns, as in every file that is joined with others.
#pragma once

#include "loadgen/plan/plan.hpp"

#include <ctime>

namespace heddle::engine {

using plan::Nanos;

// "Never": further away than any run lasts, and still safe to add to.
inline constexpr Nanos kNever = INT64_MAX / 2;

[[nodiscard]] inline Nanos nanos_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<Nanos>(time.tv_sec) * plan::kSecond + time.tv_nsec;
}
// `nanos` is not negative.
[[nodiscard]] inline timespec as_timespec(Nanos nanos) {
  return {static_cast<time_t>(nanos / plan::kSecond), static_cast<long>(nanos % plan::kSecond)};
}
[[nodiscard]] inline Nanos monotonic_now() {
  return nanos_of(CLOCK_MONOTONIC);
}

}  // namespace heddle::engine
