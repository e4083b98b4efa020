#include "loadgen/plan/url.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <stdexcept>

#include <fmt/format.h>

namespace heddle::plan {
namespace {

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw std::invalid_argument(fmt::format(
      "'{}' is no usable URL ({}); accepted: http://HOST[:PORT][/PATH], unix:/SOCKET[:/PATH]", text, why));
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < ' ' || c == 127;
}

std::uint16_t parse_port(std::string_view text, std::string_view digits) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || value == 0 || value > 65535) {
    refuse(text, "a port is 1 to 65535");
  }
  return static_cast<std::uint16_t>(value);
}

// RFC 6874 writes the percent sign before a zone as %25, and the zone's own special characters as %XX.
std::string decode_zone(std::string_view text, std::string_view zone) {
  std::string out;
  if (zone.starts_with("25")) zone.remove_prefix(2);
  for (std::size_t i = 0; i < zone.size(); ++i) {
    if (zone[i] != '%') {
      out.push_back(zone[i]);
      continue;
    }
    unsigned value = 0;
    const auto digits = zone.substr(i + 1, 2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (error != std::errc{} || digits.size() != 2 || end != digits.data() + 2 || value <= ' ' ||
        value >= 127) {
      refuse(text, "a zone's % is followed by two hexadecimal digits");
    }
    out.push_back(static_cast<char>(value));
    i += 2;
  }
  if (out.empty()) refuse(text, "no zone after the %");
  return out;
}

// What stands between the brackets. Whether it is an address is the resolver's to say, in the end.
std::string parse_literal(std::string_view text, std::string_view literal) {
  const auto percent = literal.find('%');
  const auto address = literal.substr(0, percent);
  const auto fits = [](char c) {
    return std::isxdigit(static_cast<unsigned char>(c)) != 0 || c == ':' || c == '.';
  };
  if (std::count(address.begin(), address.end(), ':') < 2 ||
      !std::all_of(address.begin(), address.end(), fits)) {
    refuse(text, "brackets hold an IPv6 address");
  }
  if (percent == std::string_view::npos) return std::string{address};
  return fmt::format("{}%{}", address, decode_zone(text, literal.substr(percent + 1)));
}

std::string path_of(std::string_view path) {
  path = path.substr(0, path.find('#'));
  return path.starts_with('/') ? std::string{path} : fmt::format("/{}", path);
}

Url parse_unix(std::string_view text, std::string_view rest) {
  Url url;
  url.host = "localhost";
  const auto colon = rest.find(":/");
  url.socket_path = rest.substr(0, colon);
  if (!url.socket_path.starts_with('/')) refuse(text, "the socket's path begins with /");
  const auto path = colon == std::string_view::npos ? "/" : rest.substr(colon + 1);
  if (path.find(' ') != std::string_view::npos) refuse(text, "white space");
  url.path = path_of(path);
  return url;
}

void parse_authority(std::string_view text, std::string_view authority, Url& url) {
  std::string_view port;
  if (authority.find('@') != std::string_view::npos) refuse(text, "user names are not supported");
  if (authority.starts_with('[')) {
    const auto close = authority.find(']');
    if (close == std::string_view::npos) refuse(text, "no closing bracket");
    url.bracketed = true;
    url.host = parse_literal(text, authority.substr(1, close - 1));
    port = authority.substr(close + 1);
    if (!port.empty() && !port.starts_with(':')) refuse(text, "text after the closing bracket");
  } else {
    if (std::count(authority.begin(), authority.end(), ':') > 1) {
      refuse(text, "an IPv6 address stands in brackets");
    }
    const auto colon = std::min(authority.find(':'), authority.size());
    url.host = authority.substr(0, colon);
    port = authority.substr(colon);
  }
  if (url.host.empty()) refuse(text, "no host");
  if (!port.empty()) url.port = parse_port(text, port.substr(1));
}

}  // namespace

std::string Url::authority() const {
  const std::string name = bracketed ? fmt::format("[{}]", host.substr(0, host.find('%'))) : host;
  return port == 80 ? name : fmt::format("{}:{}", name, port);
}

Url parse_url(std::string_view text) {
  constexpr std::string_view http = "http://";
  constexpr std::string_view unix_socket = "unix:";
  if (std::any_of(text.begin(), text.end(), is_control)) refuse(text, "a control character");
  if (text.starts_with(unix_socket)) return parse_unix(text, text.substr(unix_socket.size()));
  if (text.starts_with("https://")) refuse(text, "https is not supported");
  if (!text.starts_with(http)) refuse(text, "it does not begin with http:// or unix:");
  if (text.find(' ') != std::string_view::npos) refuse(text, "white space");

  const std::string_view rest = text.substr(http.size());
  const auto path_at = std::min(rest.find_first_of("/?#"), rest.size());
  Url url;
  url.path = path_of(rest.substr(path_at));
  parse_authority(text, rest.substr(0, path_at), url);
  return url;
}

}  // namespace heddle::plan
