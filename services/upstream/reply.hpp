// What every upstream client takes and gives back, whatever waits.
#pragma once

#include "services/waiting/client_socket.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <boost/system/error_code.hpp>

namespace heddle::upstream {

enum class Failure {
  none,
  pool_full,     // as many callers wait for a connection as may wait
  pool_timeout,  // waited for a connection until the pending timeout
  connect,       // refused, unreachable, no descriptor
  timeout,       // connected or sent, and no whole answer in time
  broken,        // reset, closed early, or no HTTP
};

struct Reply {
  Failure failure = Failure::none;
  int status = 0;      // of the answer; 0 when there was none
  std::string body;    // of the answer
  std::string detail;  // of the failure, for people

  [[nodiscard]] bool ok() const { return failure == Failure::none && status == 200; }
};

// The ancestor's client settings: 65,000 connections, as many pending, 60 s for each kind of wait.
struct ClientOptions {
  waiting::ClientSocketOptions socket;
  std::string host;  // Host header: "127.0.0.1:8080"
  std::size_t connections = 65'000;
  std::size_t pending = 65'000;
  std::chrono::milliseconds pending_timeout{60'000};
  // The server closes idle connections after 60 s: younger ones are safe to reuse.
  std::chrono::milliseconds idle_limit{50'000};
};

// The bytes of one GET with keep-alive.
[[nodiscard]] std::string get_request(std::string_view target, std::string_view host);

[[nodiscard]] Reply pool_full(const ClientOptions& options);
[[nodiscard]] Reply pool_timeout(const ClientOptions& options);
[[nodiscard]] Reply connect_failure(const boost::system::error_code& error, const ClientOptions& options);
[[nodiscard]] Reply exchange_failure(const boost::system::error_code& error, const ClientOptions& options);

}  // namespace heddle::upstream
