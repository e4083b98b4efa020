// The URL of a server, split. Only what a load generator for HTTP/1.1 in the clear needs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::plan {

struct Url {
  std::string host;  // without the brackets of an IPv6 literal, with its zone: fe80::1%eth0
  std::uint16_t port = 80;
  std::string path = "/";   // path and query; the fragment is dropped
  bool bracketed = false;   // an IPv6 literal
  std::string socket_path;  // of a unix socket; empty = TCP to host and port

  // As the Host header wants it: brackets kept, the zone (which means something on this host only) left out,
  // and the port left out when it is 80.
  [[nodiscard]] std::string authority() const;
  friend bool operator==(const Url&, const Url&) = default;
};

// http://HOST[:PORT][/PATH], where HOST is a name, an IPv4 address or an IPv6 address in brackets, with a
// zone as %25eth0 (RFC 6874) or %eth0; or unix:/SOCKET[:/PATH], whose Host header is localhost. Throws
// std::invalid_argument that quotes the text and names the accepted forms. Resolves nothing.
[[nodiscard]] Url parse_url(std::string_view text);

}  // namespace heddle::plan
