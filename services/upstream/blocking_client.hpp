// The HTTP client of the blocking style: one source for threads (which block) and fibers (which suspend).
#pragma once

#include "services/upstream/blocking_pool.hpp"
#include "services/upstream/client_counters.hpp"
#include "services/upstream/reply.hpp"
#include "services/upstream/response_reader.hpp"

#include <memory>
#include <string>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>

namespace heddle::upstream {

// `Stream` waits in its own way (ThreadStream, FiberStream); `Sync` names the matching mutex and condition
// variable. A client of fibers belongs to one I/O thread, a client of threads to all pool threads.
template <class Stream, class Sync>
class BlockingClient {
 public:
  using Pool = BlockingPool<Stream, Sync>;

  BlockingClient(ClientOptions options, ClientCounters& counters, typename Pool::Make make)
      : options_(std::move(options)), counters_(counters), pool_(options_, counters, std::move(make)) {}

  // GET on a kept-alive connection. Waits for a connection, then for the answer; never throws on I/O. A
  // connection that the peer closed while it was idle is replaced: no byte of an answer had come, and GET
  // may be repeated.
  [[nodiscard]] Reply get(const std::string& target) {
    const std::string request = get_request(target, options_.host);
    for (;;) {
      auto [connection, reused, failure] = pool_.acquire();
      if (failure == Failure::pool_full) return pool_full(options_);
      if (failure == Failure::pool_timeout) return pool_timeout(options_);
      boost::system::error_code error;
      if (!reused) {
        counters_.connects.fetch_add(1, std::memory_order_relaxed);
        connection->connect(error);
        if (error) {
          pool_.discard(std::move(connection));
          return connect_failure(error, options_);
        }
      }
      ResponseReader reader;
      exchange(*connection, request, reader, error);
      const bool stale = error && reused && !reader.started() && error != boost::asio::error::timed_out;
      if (!error && reader.reusable()) {
        pool_.release(std::move(connection));
      } else {
        pool_.discard(std::move(connection));
      }
      if (!error) return reader.take();
      if (!stale) return exchange_failure(error, options_);
    }
  }

 private:
  void exchange(Stream& stream, const std::string& request, ResponseReader& reader,
                boost::system::error_code& error) {
    stream.expires_after(options_.socket.response_timeout);
    for (std::size_t sent = 0; sent < request.size() && !error;) {
      sent += stream.write_some(boost::asio::buffer(request) + sent, error);
    }
    if (error) return;
    for (;;) {
      const std::size_t bytes = stream.read_some(reader.space(), error);
      if (reader.on_read(bytes, error)) return;
    }
  }

  ClientOptions options_;
  ClientCounters& counters_;
  Pool pool_;
};

}  // namespace heddle::upstream
