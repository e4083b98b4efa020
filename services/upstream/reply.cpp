#include "services/upstream/reply.hpp"

#include <boost/asio/error.hpp>
#include <fmt/core.h>

namespace heddle::upstream {

std::string get_request(std::string_view target, std::string_view host) {
  return fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\nAccept: application/json\r\n\r\n", target, host);
}

Reply pool_full(const ClientOptions& options) {
  return {Failure::pool_full,
          0,
          {},
          fmt::format("all {} upstream connections are in use and {} requests wait for one, the most allowed",
                      options.connections, options.pending)};
}

Reply pool_timeout(const ClientOptions& options) {
  return {Failure::pool_timeout,
          0,
          {},
          fmt::format("no upstream connection became free within {} ms (limit {} connections)",
                      options.pending_timeout.count(), options.connections)};
}

Reply connect_failure(const boost::system::error_code& error, const ClientOptions& options) {
  if (error == boost::asio::error::timed_out) {
    return {Failure::timeout,
            0,
            {},
            fmt::format("no connection to {} within {} ms", options.host,
                        options.socket.connect_timeout.count())};
  }
  return {Failure::connect, 0, {}, fmt::format("cannot connect to {}: {}", options.host, error.message())};
}

Reply exchange_failure(const boost::system::error_code& error, const ClientOptions& options) {
  if (error == boost::asio::error::timed_out) {
    return {
        Failure::timeout,
        0,
        {},
        fmt::format("no answer from {} within {} ms", options.host, options.socket.response_timeout.count())};
  }
  return {
      Failure::broken, 0, {}, fmt::format("the exchange with {} broke: {}", options.host, error.message())};
}

}  // namespace heddle::upstream
