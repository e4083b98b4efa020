#include "services/waiting/client_socket.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace heddle::waiting {

namespace {

using boost::asio::ip::address_v4;

// Each address has a port range of its own (28,000 by default): four of them carry the 65,000 connections
// that a client pool may hold. 127.0.1.x stays clear of the addresses that people listen on.
constexpr std::uint32_t kFirstSource = 0x7f000101;  // 127.0.1.1
constexpr std::uint32_t kSources = 4;

address_v4 next_source(address_v4 peer) {
  static std::atomic<std::uint32_t> turn{0};
  const std::uint32_t source = kFirstSource + turn.fetch_add(1, std::memory_order_relaxed) % kSources;
  return address_v4(source == peer.to_uint() ? kFirstSource + kSources : source);
}

bool bind_loopback_source(int descriptor, address_v4 peer) {
  const int on = 1;
  if (setsockopt(descriptor, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on) != 0) return false;
  const boost::asio::ip::tcp::endpoint source(next_source(peer), 0);
  return bind(descriptor, source.data(), static_cast<socklen_t>(source.size())) == 0;
}

bool prepare(int descriptor, const ClientSocketOptions& options) {
  const int on = 1;
  if (setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) return false;
  const std::string& congestion = options.congestion_control;
  if (!congestion.empty() && setsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, congestion.data(),
                                        static_cast<socklen_t>(congestion.size())) != 0) {
    return false;
  }
  const auto& address = options.peer.address();
  return !address.is_v4() || !address.is_loopback() || bind_loopback_source(descriptor, address.to_v4());
}

}  // namespace

int open_client_socket(const ClientSocketOptions& options, boost::system::error_code& error) {
  const int descriptor = socket(options.peer.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
  if (descriptor >= 0 && prepare(descriptor, options)) {
    error = {};
    return descriptor;
  }
  error.assign(errno, boost::system::system_category());
  if (descriptor >= 0) close(descriptor);
  return -1;
}

}  // namespace heddle::waiting
