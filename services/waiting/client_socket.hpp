// What every outgoing connection has in common, whatever waits on it.
#pragma once

#include <chrono>
#include <string>

#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>

namespace heddle::waiting {

struct ClientSocketOptions {
  boost::asio::ip::tcp::endpoint peer;
  std::string congestion_control;  // empty: the host's default
  std::chrono::milliseconds connect_timeout{20'000};
  std::chrono::milliseconds response_timeout{60'000};
};

// Opens and prepares a socket for `options.peer`: TCP_NODELAY, congestion control, and for a peer in 127/8 a
// source address in 127/8 that is never the peer's own, so that a connection left in TIME_WAIT can not
// occupy the port the service listens on. The port is chosen at connect (IP_BIND_ADDRESS_NO_PORT). Does not
// connect and does not block. The descriptor is the caller's; -1 on error.
[[nodiscard]] int open_client_socket(const ClientSocketOptions& options, boost::system::error_code& error);

}  // namespace heddle::waiting
