#include "services/upstream/async_pool.hpp"

#include <boost/asio/post.hpp>

namespace heddle::upstream {

AsyncPool::AsyncPool(waiting::LoopExecutor executor, const ClientOptions& options, ClientCounters& counters)
    : executor_(executor), options_(options), counters_(counters), deadline_timer_(executor) {}

void AsyncPool::acquire(Ready ready) {
  if (waiters_.empty() && (!idle_.empty() || open_ < options_.connections)) return ready(take());
  if (waiters_.size() >= options_.pending) return ready({nullptr, false, Failure::pool_full});
  waiters_.push_back({std::move(ready), Clock::now() + options_.pending_timeout});
  counters_.waiting.fetch_add(1, std::memory_order_relaxed);
  if (waiters_.size() == 1) watch_deadlines();
}

AsyncPool::Acquired AsyncPool::take() {
  if (!idle_.empty()) {
    Handle connection = std::move(idle_.back().connection);
    const bool fresh_enough = Clock::now() - idle_.back().since < options_.idle_limit;
    idle_.pop_back();
    if (!fresh_enough) connection->close();
    return {std::move(connection), fresh_enough, Failure::none};
  }
  ++open_;
  counters_.connections_open.fetch_add(1, std::memory_order_relaxed);
  return {std::make_shared<waiting::AsyncSocket>(executor_, options_.socket), false, Failure::none};
}

void AsyncPool::release(Handle connection) {
  connection->expires_never();
  idle_.push_back({std::move(connection), Clock::now()});
  serve_waiters();
}

void AsyncPool::discard(Handle connection) {
  connection->close();
  --open_;
  counters_.connections_open.fetch_sub(1, std::memory_order_relaxed);
  serve_waiters();
}

void AsyncPool::serve_waiters() {
  if (waiters_.empty() || (idle_.empty() && open_ >= options_.connections)) return;
  Ready ready = std::move(waiters_.front().ready);
  waiters_.pop_front();
  counters_.waiting.fetch_sub(1, std::memory_order_relaxed);
  // Posted: the caller of release() is still in the middle of its own request.
  boost::asio::post(executor_, [ready = std::move(ready), got = take()]() mutable { ready(std::move(got)); });
}

void AsyncPool::watch_deadlines() {
  deadline_timer_.expires_at(waiters_.front().deadline);
  deadline_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    while (!waiters_.empty() && waiters_.front().deadline <= Clock::now()) {
      Ready ready = std::move(waiters_.front().ready);
      waiters_.pop_front();
      counters_.waiting.fetch_sub(1, std::memory_order_relaxed);
      ready({nullptr, false, Failure::pool_timeout});
    }
    if (!waiters_.empty()) watch_deadlines();
  });
}

}  // namespace heddle::upstream
