#include "loadgen/engine/endpoint.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdexcept>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

namespace heddle::engine {
namespace {

template <class Socket>
const Socket& as(const sockaddr_storage& storage) {
  return reinterpret_cast<const Socket&>(storage);
}

bool same(const sockaddr_storage& a, const sockaddr_storage& b) {
  if (a.ss_family != b.ss_family) return false;
  if (a.ss_family == AF_INET) {
    const auto& x = as<sockaddr_in>(a);
    const auto& y = as<sockaddr_in>(b);
    return x.sin_addr.s_addr == y.sin_addr.s_addr && x.sin_port == y.sin_port;
  }
  if (a.ss_family == AF_INET6) {
    const auto& x = as<sockaddr_in6>(a);
    const auto& y = as<sockaddr_in6>(b);
    return IN6_ARE_ADDR_EQUAL(&x.sin6_addr, &y.sin6_addr) && x.sin6_port == y.sin6_port &&
           x.sin6_scope_id == y.sin6_scope_id;
  }
  return std::strcmp(as<sockaddr_un>(a).sun_path, as<sockaddr_un>(b).sun_path) == 0;
}

Opened failed(int fd) {
  const int error = errno;
  if (fd >= 0) close(fd);
  return {-1, error};
}

// A connect to a port of this host that nobody listens on succeeds when the kernel happens to choose that
// very port as the source: TCP's simultaneous open, with itself. It would eat its own requests and keep the
// port from the server that wants to come back.
bool connected_to_itself(int fd, const Address& target) {
  sockaddr_storage local{};
  socklen_t size = sizeof local;
  return getsockname(fd, reinterpret_cast<sockaddr*>(&local), &size) == 0 && same(local, target.storage);
}

Opened refused_by_itself(int fd) {
  const linger now{1, 0};  // no TIME_WAIT on the server's port
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close(fd);
  return {-1, ECONNREFUSED};
}

Opened start_unix(const Address& target) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0 || connect(fd, target.get(), target.size) != 0) return failed(fd);
  return {fd, 0};
}

}  // namespace

bool same_address(const Address& a, const Address& b) {
  return same(a.storage, b.storage);
}

Address make_address(const sockaddr* address, socklen_t size, bool with_port) {
  Address made;
  std::memcpy(&made.storage, address, std::min<std::size_t>(size, sizeof made.storage));
  made.size = size;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  getnameinfo(address, size, host.data(), host.size(), port.data(), port.size(),
              NI_NUMERICHOST | NI_NUMERICSERV);
  if (!with_port) {
    made.text = host.data();
  } else if (made.family() == AF_INET6) {
    made.text = fmt::format("[{}]:{}", host.data(), port.data());
  } else {
    made.text = fmt::format("{}:{}", host.data(), port.data());
  }
  return made;
}

Address unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    throw std::invalid_argument(fmt::format("the path of a unix socket has at most {} bytes, found {}: '{}'",
                                            sizeof address.sun_path - 1, path.size(), path));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  Address made;
  std::memcpy(&made.storage, &address, sizeof address);
  made.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  made.text = fmt::format("unix:{}", path);
  return made;
}

bool is_loopback_v4(const Address& address) {
  return address.family() == AF_INET &&
         (ntohl(as<sockaddr_in>(address.storage).sin_addr.s_addr) >> 24) == 127;
}

bool is_local(const Address& address) {
  return address.is_unix() || is_loopback_v4(address) ||
         (address.family() == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&as<sockaddr_in6>(address.storage).sin6_addr));
}

Opened start_connect(const Address& target, const Address* source, const SocketOptions& options) {
  if (target.is_unix()) return start_unix(target);
  const int fd = socket(target.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
  if (fd < 0) return failed(fd);
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (!options.congestion_control.empty() &&
      setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, options.congestion_control.data(),
                 static_cast<socklen_t>(options.congestion_control.size())) != 0) {
    return failed(fd);
  }
  if (source != nullptr) {
    // The port is chosen at connect, for this target only: else each source would serve one port range in
    // all. The kernel takes this option of IPv4's level for IPv6 sockets too.
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    if (bind(fd, source->get(), source->size) != 0) return failed(fd);
  }
  if (connect(fd, target.get(), target.size) != 0 && errno != EINPROGRESS) return failed(fd);
  // Automatic sources are never the target's address; this costs a call only where it can happen.
  const bool other_source =
      source != nullptr && is_loopback_v4(*source) && is_loopback_v4(target) &&
      as<sockaddr_in>(source->storage).sin_addr.s_addr != as<sockaddr_in>(target.storage).sin_addr.s_addr;
  if (!other_source && connected_to_itself(fd, target)) return refused_by_itself(fd);
  return {fd, 0};
}

}  // namespace heddle::engine
