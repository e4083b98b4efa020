// A bounded pool of connections for callers that never block: callbacks and coroutines.
#pragma once

#include "services/upstream/client_counters.hpp"
#include "services/upstream/reply.hpp"
#include "services/waiting/async_socket.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <vector>

namespace heddle::upstream {

// Belongs to one I/O thread: no locks. The same bounds, order and failures as BlockingPool.
class AsyncPool {
 public:
  using Handle = std::shared_ptr<waiting::AsyncSocket>;
  struct Acquired {
    Handle connection;
    bool reused = false;  // already connected
    Failure failure = Failure::none;
  };
  using Ready = std::function<void(Acquired)>;

  AsyncPool(waiting::LoopExecutor executor, const ClientOptions& options, ClientCounters& counters);

  // Calls `ready` at once when a connection is free or may be opened, otherwise later from the event loop.
  void acquire(Ready ready);
  void release(Handle connection);
  // Gives up the place of a connection that broke.
  void discard(Handle connection);

 private:
  using Clock = std::chrono::steady_clock;
  struct Idle {
    Handle connection;
    Clock::time_point since;
  };
  struct Waiter {
    Ready ready;
    Clock::time_point deadline;
  };

  [[nodiscard]] Acquired take();
  void serve_waiters();
  void watch_deadlines();

  waiting::LoopExecutor executor_;
  const ClientOptions& options_;
  ClientCounters& counters_;
  waiting::LoopTimer deadline_timer_;
  std::vector<Idle> idle_;
  std::list<Waiter> waiters_;  // oldest first: all wait equally long, so this is deadline order too
  std::size_t open_ = 0;
};

}  // namespace heddle::upstream
