#include "loadgen/plan/url.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include <fmt/format.h>

namespace heddle::plan {
namespace {

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw std::invalid_argument(
      fmt::format("'{}' is no usable URL ({}); accepted: http://HOST[:PORT][/PATH]", text, why));
}

std::uint16_t parse_port(std::string_view text, std::string_view digits) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || value == 0 || value > 65535) {
    refuse(text, "a port is 1 to 65535");
  }
  return static_cast<std::uint16_t>(value);
}

}  // namespace

std::string Url::authority() const {
  const std::string name = bracketed ? fmt::format("[{}]", host) : host;
  return port == 80 ? name : fmt::format("{}:{}", name, port);
}

Url parse_url(std::string_view text) {
  constexpr std::string_view scheme = "http://";
  if (text.starts_with("https://")) refuse(text, "https is not supported");
  if (!text.starts_with(scheme)) refuse(text, "it does not begin with http://");
  const auto bad = [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 127; };
  if (std::any_of(text.begin(), text.end(), bad)) refuse(text, "white space or a control character");

  std::string_view rest = text.substr(scheme.size());
  rest = rest.substr(0, rest.find('#'));
  const auto path_at = std::min(rest.find_first_of("/?"), rest.size());
  std::string_view authority = rest.substr(0, path_at);
  if (authority.find('@') != std::string_view::npos) refuse(text, "user names are not supported");

  Url url;
  const std::string_view path = rest.substr(path_at);
  url.path = path.starts_with('/') ? std::string{path} : fmt::format("/{}", path);
  std::string_view port;
  if (authority.starts_with('[')) {
    const auto close = authority.find(']');
    if (close == std::string_view::npos) refuse(text, "no closing bracket");
    url.bracketed = true;
    url.host = authority.substr(1, close - 1);
    port = authority.substr(close + 1);
    if (!port.empty() && !port.starts_with(':')) refuse(text, "text after the closing bracket");
  } else {
    const auto colon = std::min(authority.find(':'), authority.size());
    url.host = authority.substr(0, colon);
    port = authority.substr(colon);
  }
  if (url.host.empty()) refuse(text, "no host");
  if (!port.empty()) url.port = parse_port(text, port.substr(1));
  return url;
}

}  // namespace heddle::plan
