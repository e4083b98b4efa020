#include "services/upstream/coroutine_client.hpp"

#include "services/upstream/response_reader.hpp"

#include <memory>
#include <utility>

#include <boost/asio/async_result.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/write.hpp>

namespace heddle::upstream {

namespace {

using Error = boost::system::error_code;
using waiting::AsyncSocket;
using waiting::no_throw;
using waiting::Task;

Task<Error> connect(AsyncSocket& connection) {
  Error error;
  connection.open(error);
  if (error) co_return error;
  connection.expires_after(connection.options().connect_timeout);
  co_await connection.socket().async_connect(connection.options().peer, no_throw(error));
  co_return connection.explain(error);
}

Task<Error> exchange(AsyncSocket& connection, const std::string& request, ResponseReader& reader) {
  Error error;
  connection.expires_after(connection.options().response_timeout);
  const auto unsent = boost::asio::buffer(request);
  const std::size_t written = connection.write_now(unsent, error);
  if (!error && written < request.size()) {
    co_await boost::asio::async_write(connection.socket(), unsent + written, no_throw(error));
  }
  if (error) co_return connection.explain(error);
  for (;;) {
    const std::size_t bytes = co_await connection.socket().async_read_some(reader.space(), no_throw(error));
    if (reader.on_read(bytes, error)) co_return connection.explain(error);
  }
}

}  // namespace

Task<AsyncPool::Acquired> CoroutineClient::acquire() {
  AsyncPool::Acquired got;
  // Bound to a name first: GCC 12 destroys a capturing lambda twice when it is a temporary of co_await.
  auto initiate = [this, &got](auto handler) {
    // std::function wants a copyable handler; the pool calls it once.
    auto resume = std::make_shared<decltype(handler)>(std::move(handler));
    pool_.acquire([&got, resume](AsyncPool::Acquired acquired) {
      got = std::move(acquired);
      std::move (*resume)();
    });
  };
  co_await boost::asio::async_initiate<const waiting::UseTask&, void()>(initiate, waiting::use_task);
  co_return got;
}

Task<Reply> CoroutineClient::get(std::string target) {
  const std::string request = get_request(target, options_.host);
  for (;;) {
    auto [connection, reused, failure] = co_await acquire();
    if (failure == Failure::pool_full) co_return pool_full(options_);
    if (failure == Failure::pool_timeout) co_return pool_timeout(options_);
    if (!reused) {
      counters_.connects.fetch_add(1, std::memory_order_relaxed);
      const Error refused = co_await connect(*connection);
      if (refused) {
        pool_.discard(std::move(connection));
        co_return connect_failure(refused, options_);
      }
    }
    ResponseReader reader;
    const Error error = co_await exchange(*connection, request, reader);
    const bool stale = error && reused && !reader.started() && error != boost::asio::error::timed_out;
    if (!error && reader.reusable()) {
      pool_.release(std::move(connection));
    } else {
      pool_.discard(std::move(connection));
    }
    if (!error) co_return reader.take();
    if (!stale) co_return exchange_failure(error, options_);
    co_await waiting::yield_to_loop();  // a pool full of stale connections must not nest as many resumptions
  }
}

}  // namespace heddle::upstream
