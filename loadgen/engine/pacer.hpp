// How early a thread wakes up so that a late wake-up does not become a late request.
//
// A sleeping thread wakes up late: by its CPU's idle state, and in a virtual machine by the host's scheduler
// (0.3 to 0.8 ms at the 99th percentile was measured on a 2-core one). The thread therefore sleeps only until
// window() before the next due time and polls for events from then on. No I/O; times in ns.
#pragma once

#include "loadgen/engine/clock.hpp"

#include <algorithm>
#include <optional>

namespace heddle::engine {

class Pacer {
 public:
  // More than this is not spun away: a host that oversleeps by more is late, and is to be called so.
  static constexpr Nanos kLongestWindow = plan::kMillisecond;
  // With this it begins, until it has seen how late wake-ups are.
  static constexpr Nanos kFirstWindow = 200 * plan::kMicrosecond;
  // Of the distance to the last oversleep beyond the window: it forgets one in some hundred sleeps.
  static constexpr Nanos kForget = 512;
  // What a turn of the loop needs between the wake-up and the first send.
  static constexpr Nanos kMargin = 10 * plan::kMicrosecond;

  // `fixed`: this window, whatever happens (0: never poll). Empty: as long as wake-ups have been late.
  explicit Pacer(std::optional<Nanos> fixed)
      : adapts_{!fixed.has_value()}, window_{fixed.value_or(kFirstWindow)} {}

  [[nodiscard]] Nanos window() const { return window_; }

  // A sleep that nothing interrupted ended this much later than asked for.
  void overslept(Nanos by) {
    if (!adapts_) return;
    const Nanos wanted = std::clamp<Nanos>(by + kMargin, 0, kLongestWindow);
    window_ = wanted >= window_ ? wanted : window_ - (window_ - wanted) / kForget;
  }

 private:
  bool adapts_;
  Nanos window_;
};

}  // namespace heddle::engine
