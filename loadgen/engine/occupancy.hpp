// How many requests were on the wire, integrated over time: the L of Little's law, measured without looking
// at a single request's duration. Both sides of L = lambda W then check each other.
#pragma once

#include "loadgen/engine/clock.hpp"

namespace heddle::engine {

class Occupancy {
 public:
  void enter(Nanos now) { change(now, 1); }
  void leave(Nanos now) { change(now, -1); }

  [[nodiscard]] std::int64_t level() const { return level_; }
  // Request-nanoseconds until `now`. In 128 bits: 60,000 requests in flight fill 63 in 43 hours.
  [[nodiscard]] double request_seconds(Nanos now) const {
    return static_cast<double>(area_ + static_cast<Area>(level_) * (now - since_)) / 1e9;
  }

 private:
  __extension__ using Area = __int128;

  void change(Nanos now, std::int64_t by) {
    area_ += static_cast<Area>(level_) * (now - since_);
    since_ = now;
    level_ += by;
  }

  Area area_ = 0;
  Nanos since_ = 0;
  std::int64_t level_ = 0;
};

}  // namespace heddle::engine
