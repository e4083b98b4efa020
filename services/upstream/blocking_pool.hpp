// A bounded pool of connections for callers that block (threads) or suspend (fibers).
#pragma once

#include "services/upstream/client_counters.hpp"
#include "services/upstream/reply.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace heddle::upstream {

// `Sync` names a Mutex and a ConditionVariable with the interface of the standard's; what they do to the
// caller is what acquire() does to it. The connection used last is handed out first.
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
    if (idle_.empty() && open_ >= options_.connections) {
      if (waiting_ >= options_.pending) return {nullptr, false, Failure::pool_full};
      ++waiting_;
      counters_.waiting.fetch_add(1, std::memory_order_relaxed);
      const bool got = freed_.wait_for(lock, options_.pending_timeout,
                                       [this] { return !idle_.empty() || open_ < options_.connections; });
      --waiting_;
      counters_.waiting.fetch_sub(1, std::memory_order_relaxed);
      if (!got) return {nullptr, false, Failure::pool_timeout};
    }
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

  void release(Handle connection) {
    {
      const std::lock_guard lock(mutex_);
      idle_.push_back({std::move(connection), Clock::now()});
    }
    freed_.notify_one();
  }

  // Gives up the place of a connection that broke.
  void discard(Handle connection) {
    connection.reset();
    {
      const std::lock_guard lock(mutex_);
      --open_;
      counters_.connections_open.fetch_sub(1, std::memory_order_relaxed);
    }
    freed_.notify_one();
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Idle {
    Handle connection;
    Clock::time_point since;
  };

  const ClientOptions options_;
  ClientCounters& counters_;
  Make make_;
  typename Sync::Mutex mutex_;
  typename Sync::ConditionVariable freed_;
  std::vector<Idle> idle_;
  std::size_t open_ = 0;
  std::size_t waiting_ = 0;
};

}  // namespace heddle::upstream
