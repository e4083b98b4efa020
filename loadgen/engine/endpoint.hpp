// Where connections go to and come from, and how one is started.
#pragma once

#include <netinet/in.h>
#include <string>
#include <sys/socket.h>

namespace heddle::engine {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  std::string
      text;  // a target: 127.0.0.1:8080, [::1]:8080, unix:/run/x.sock; a source has no port: 127.0.0.2

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] int family() const { return storage.ss_family; }
  [[nodiscard]] bool is_unix() const { return family() == AF_UNIX; }
};

// The same family, host and port; texts do not count.
[[nodiscard]] bool same_address(const Address& a, const Address& b);

// Fills in the text from the rest; with the port for a target. Does not ask a name server.
[[nodiscard]] Address make_address(const sockaddr* address, socklen_t size, bool with_port);

// Throws std::invalid_argument with the length and the limit (107 bytes) when the path is too long.
[[nodiscard]] Address unix_address(const std::string& path);

// 127/8; no other host is reached, and any of its addresses may be a source without being set up.
[[nodiscard]] bool is_loopback_v4(const Address& address);

// Is the server on this host for certain: a loopback address or a unix socket.
[[nodiscard]] bool is_local(const Address& address);

struct SocketOptions {
  std::string congestion_control;  // empty = the host's default
};

struct Opened {
  int fd = -1;
  int error = 0;  // errno when fd is -1
};

// A non-blocking socket on its way to `target`, bound to `source` (null = not bound). A unix socket takes
// neither source nor options; its error is EAGAIN when the server's backlog is full and ENOENT when there is
// no such file. Does not block.
[[nodiscard]] Opened start_connect(const Address& target, const Address* source,
                                   const SocketOptions& options);

}  // namespace heddle::engine
