// What one engine thread saw in about one second. Each thread owns two: it fills one while the other is
// merged by the run's main thread, so no statistics are merged on an I/O thread.
#pragma once

#include "loadgen/record/counts.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace heddle::record {

class Interval {
 public:
  Interval(std::size_t stages, std::size_t classes)
      : stage_lags(stages), classes_{classes}, cells_(stages * classes) {}

  // Made at first use (once per stage and class, from cells that were given back when there are some).
  [[nodiscard]] Cell& cell(std::size_t stage, std::size_t request_class) {
    auto& slot = cells_[stage * classes_ + request_class];
    if (!slot) slot = take();
    return *slot;
  }
  // Null when nothing happened there.
  [[nodiscard]] const Cell* find(std::size_t stage, std::size_t request_class) const {
    return cells_[stage * classes_ + request_class].get();
  }
  // Empties everything, keeping the memory for later cells.
  void clear();

  Histogram lag;                      // actual send - due, while a connection was free
  std::vector<Histogram> stage_lags;  // the same by the stage of the request
  Histogram turns;                    // time between two waits for events
  std::int64_t spin_nanos = 0;        // polling for the next due time, all threads
  bool measured = false;              // lies in the measure stages, so that `lag` counts
  std::int64_t start_nanos = 0;
  std::int64_t end_nanos = 0;

 private:
  [[nodiscard]] std::unique_ptr<Cell> take();

  std::size_t classes_;
  std::vector<std::unique_ptr<Cell>> cells_;
  std::vector<std::unique_ptr<Cell>> spare_;
};

}  // namespace heddle::record
