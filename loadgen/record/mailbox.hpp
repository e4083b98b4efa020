// Hands one thread's filled interval to the main thread and an empty one back, without a lock.
#pragma once

#include "loadgen/record/interval.hpp"

#include <atomic>
#include <memory>

namespace heddle::record {

class Mailbox {
 public:
  Mailbox(std::size_t stages, std::size_t classes)
      : first_{std::make_unique<Interval>(stages, classes)},
        second_{std::make_unique<Interval>(stages, classes)},
        empty_{second_.get()} {}

  // Where the engine thread begins.
  [[nodiscard]] Interval* first() { return first_.get(); }

  // Engine thread: publishes `filled` and returns an empty interval; returns null, publishing nothing, when
  // the main thread has not given the other one back yet (the caller then goes on with `filled`).
  [[nodiscard]] Interval* exchange(Interval* filled) {
    Interval* next = empty_.exchange(nullptr, std::memory_order_acquire);
    if (next != nullptr) full_.store(filled, std::memory_order_release);
    return next;
  }

  // Main thread: the filled interval or null.
  [[nodiscard]] Interval* take() { return full_.exchange(nullptr, std::memory_order_acquire); }
  // Main thread: gives it back, cleared.
  void give_back(Interval* interval) {
    interval->clear();
    empty_.store(interval, std::memory_order_release);
  }

 private:
  std::unique_ptr<Interval> first_;
  std::unique_ptr<Interval> second_;
  std::atomic<Interval*> empty_;
  std::atomic<Interval*> full_{nullptr};
};

}  // namespace heddle::record
