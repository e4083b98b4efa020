// Decides when which request goes out on which connection. One per engine thread.
#pragma once

#include "loadgen/engine/connection_set.hpp"

#include <memory>

namespace heddle::engine {

// After a pause of this thread hundreds may be due: between so many the answers that have come are looked at,
// so that catching up does not count as the server's time.
inline constexpr std::int64_t kSendBatch = 32;

class Driver : public ConnectionObserver {
 public:
  // A group of stages begins; its time 0 is `start`.
  virtual void begin(const StageGroup& group, Nanos start) = 0;
  // Does what is due at `now`, or a part of it: next_due() tells. Only between begin() and end().
  virtual void run_due(Nanos now) = 0;
  // When run_due() has something to do next, as far as time alone tells; kNever if nothing.
  [[nodiscard]] virtual Nanos next_due() const = 0;
  // The group ends at `at`, its planned time or earlier, maybe earlier than the last run_due(): what is not
  // on the wire by now is not sent. Counts a part of that; true when all is counted, else it is to be called
  // again with the same time.
  [[nodiscard]] virtual bool end(Nanos at) = 0;
};

// An open loop: request k goes out when it is due, on the connection that has been free for longest.
[[nodiscard]] std::unique_ptr<Driver> make_rate_driver(const Setup& setup, std::uint32_t thread,
                                                       ConnectionSet& connections, Recorder& recorder);

// Users: each owns a connection, sends, waits for the answer, thinks, and sends again.
[[nodiscard]] std::unique_ptr<Driver> make_user_driver(const Setup& setup, std::uint32_t thread,
                                                       ConnectionSet& connections, Recorder& recorder);

}  // namespace heddle::engine
