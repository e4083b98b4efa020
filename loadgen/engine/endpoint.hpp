// Where connections go to and come from.
#pragma once

#include "loadgen/plan/plan.hpp"

#include <cstdint>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <vector>

namespace heddle::engine {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  std::string text;  // without the port

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// The first answer of the resolver, IPv4 before IPv6. Throws std::runtime_error that names the host. Blocks.
[[nodiscard]] Address resolve(const plan::Url& url);

// An IPv4 literal without a port. Throws std::invalid_argument.
[[nodiscard]] Address ipv4_address(const std::string& text);

[[nodiscard]] bool is_loopback_v4(const Address& address);

// How many source addresses `connections` need when each can use `ports` ports to one target: at most 70 % of
// the range is used, the rest is left to others and to TIME_WAIT. With connections of short life a port in
// TIME_WAIT must not come back soon, so at least 32 are taken.
[[nodiscard]] std::size_t sources_needed(std::int64_t connections, std::int64_t ports, bool short_lived);

// `count` addresses from 127.0.0.2 on, without those in `taken`.
[[nodiscard]] std::vector<std::string> loopback_sources(std::size_t count,
                                                        const std::vector<std::string>& taken);

// Ports in net.ipv4.ip_local_port_range; the kernel's default of 28,232 when it cannot be read. Blocks.
[[nodiscard]] std::int64_t local_port_count();

// What the plan asks for: its list, or for targets in 127/8 enough addresses other than theirs. Empty = the
// kernel chooses. Throws std::invalid_argument for an address that is no IPv4 literal.
[[nodiscard]] std::vector<Address> choose_sources(const plan::Plan& plan,
                                                  const std::vector<Address>& targets);

struct SocketOptions {
  std::string congestion_control;  // empty = the host's default
};

struct Opened {
  int fd = -1;
  int error = 0;  // errno when fd is -1
};

// A non-blocking TCP socket, bound to `source` (null = not bound), on its way to `target`.
[[nodiscard]] Opened start_connect(const Address& target, const Address* source,
                                   const SocketOptions& options);

}  // namespace heddle::engine
