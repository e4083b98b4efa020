// How a coroutine waits. The executor type is the io_context's own, not any_io_executor: type erasure on
// every resumption costs about a fifth of the throughput (measured with the defaults).
#pragma once

#include "services/waiting/async_socket.hpp"

#include <chrono>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace heddle::waiting {

template <class T>
using Task = boost::asio::awaitable<T, LoopExecutor>;
using UseTask = boost::asio::use_awaitable_t<LoopExecutor>;
inline constexpr UseTask use_task{};

// Completion token: suspends, stores the error instead of throwing it.
[[nodiscard]] inline auto no_throw(boost::system::error_code& error) {
  return boost::asio::redirect_error(use_task, error);
}

// Suspends the coroutine on an Asio timer.
[[nodiscard]] inline Task<void> delay_for(std::chrono::nanoseconds duration) {
  LoopTimer timer(co_await boost::asio::this_coro::executor);
  timer.expires_after(duration);
  co_await timer.async_wait(use_task);
}

// Suspends until the event loop comes round: what follows runs from a posted continuation.
[[nodiscard]] inline Task<void> yield_to_loop() {
  co_await boost::asio::post(use_task);
}

}  // namespace heddle::waiting
