// TCP congestion control of a socket. Some hosts run bbr by default, which paces loopback: both ends of a
// benchmark choose the same one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle::host {

// The names this kernel offers (net.ipv4.tcp_available_congestion_control), the default first. Throws
// std::system_error when the kernel does not tell.
[[nodiscard]] std::vector<std::string> available_congestion_controls();

// Whether this process may choose it: without privileges the kernel allows only some of what it offers
// (net.ipv4.tcp_allowed_congestion_control). Tried on a socket of its own.
[[nodiscard]] bool may_use_congestion_control(std::string_view name);

// TCP_CONGESTION on an IPv4 or IPv6 TCP socket; a listener hands it on to what it accepts. Throws
// std::system_error that names the algorithm and those on offer.
void set_congestion_control(int socket, std::string_view name);

// What the socket uses now. Throws std::system_error.
[[nodiscard]] std::string congestion_control(int socket);

}  // namespace heddle::host
