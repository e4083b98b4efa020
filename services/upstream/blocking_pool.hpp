// A bounded pool of connections for callers that block (threads) or suspend (fibers).
#pragma once

#include "services/upstream/client_counters.hpp"
#include "services/upstream/reply.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace heddle::upstream {

// `Sync` names a Mutex and a ConditionVariable with the interface of the standard's; what they do to the
// caller is what acquire() does to it. Who waits longest is served first, newcomers queue behind, and the
// connection used last is handed out first: exactly as in AsyncPool, or the models would differ in their
// queues instead of in how they wait.
template <class Connection, class Sync>
class BlockingPool {
 public:
  using Handle = std::unique_ptr<Connection>;
  using Make = std::function<Handle()>;

  struct Acquired {
    Handle connection;
    bool reused = false;
    Failure failure = Failure::none;
  };

  BlockingPool(const ClientOptions& options, ClientCounters& counters, Make make)
      : options_(options), counters_(counters), make_(std::move(make)) {}

  // Waits at most for the pending timeout. Failure: pool_full or pool_timeout.
  [[nodiscard]] Acquired acquire() {
    std::unique_lock lock(mutex_);
    if (waiters_.empty() && has_free()) return take();
    if (waiters_.size() >= options_.pending) return {nullptr, false, Failure::pool_full};
    Waiter self;
    const auto place = waiters_.insert(waiters_.end(), &self);
    counters_.waiting.fetch_add(1, std::memory_order_relaxed);
    const bool served = self.ready.wait_for(lock, options_.pending_timeout, [&self] { return self.served; });
    counters_.waiting.fetch_sub(1, std::memory_order_relaxed);
    if (served) return std::move(self.got);
    waiters_.erase(place);
    return {nullptr, false, Failure::pool_timeout};
  }

  void release(Handle connection) {
    const std::lock_guard lock(mutex_);
    idle_.push_back({std::move(connection), Clock::now()});
    serve_longest_waiter();
  }

  // Gives up the place of a connection that broke.
  void discard(Handle connection) {
    connection.reset();
    const std::lock_guard lock(mutex_);
    --open_;
    counters_.connections_open.fetch_sub(1, std::memory_order_relaxed);
    serve_longest_waiter();
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Idle {
    Handle connection;
    Clock::time_point since;
  };
  // On the stack of the caller that waits.
  struct Waiter {
    Acquired got;
    bool served = false;
    typename Sync::ConditionVariable ready;
  };

  // All below: with the lock held.
  [[nodiscard]] bool has_free() const { return !idle_.empty() || open_ < options_.connections; }

  [[nodiscard]] Acquired take() {
    if (!idle_.empty()) {
      Handle connection = std::move(idle_.back().connection);
      const bool fresh_enough = Clock::now() - idle_.back().since < options_.idle_limit;
      idle_.pop_back();
      if (!fresh_enough) connection->close();
      return {std::move(connection), fresh_enough, Failure::none};
    }
    ++open_;
    counters_.connections_open.fetch_add(1, std::memory_order_relaxed);
    return {make_(), false, Failure::none};
  }

  void serve_longest_waiter() {
    if (waiters_.empty() || !has_free()) return;
    Waiter& waiter = *waiters_.front();
    waiters_.pop_front();
    waiter.got = take();
    waiter.served = true;
    waiter.ready.notify_one();  // under the lock: the waiter is gone as soon as it can see that it was served
  }

  const ClientOptions options_;
  ClientCounters& counters_;
  Make make_;
  typename Sync::Mutex mutex_;
  std::vector<Idle> idle_;
  std::list<Waiter*> waiters_;  // longest first
  std::size_t open_ = 0;
};

}  // namespace heddle::upstream
