// Timers with times of their own (think times, back-off), as a heap. An entry cannot be taken out: its owner
// checks whether it still holds.
#pragma once

#include "loadgen/engine/clock.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace heddle::engine {

struct Timer {
  Nanos at = 0;
  std::uint32_t index = 0;       // of the user or connection
  std::uint32_t generation = 0;  // the owner's, when it was set
};

class Timers {
 public:
  void add(Timer timer) {
    heap_.push_back(timer);
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  [[nodiscard]] Nanos next() const { return heap_.empty() ? kNever : heap_.front().at; }
  // The earliest; only when next() is not kNever.
  Timer pop() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Timer timer = heap_.back();
    heap_.pop_back();
    return timer;
  }

 private:
  static bool later(const Timer& a, const Timer& b) { return a.at > b.at; }
  std::vector<Timer> heap_;
};

}  // namespace heddle::engine
