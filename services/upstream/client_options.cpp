#include "services/upstream/client_options.hpp"

#include <charconv>
#include <stdexcept>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <fmt/core.h>

namespace heddle::upstream {

namespace {

struct HostPort {
  std::string host;
  std::string port = "80";
};

[[noreturn]] void refuse(std::string_view url, std::string_view why) {
  throw std::invalid_argument(fmt::format("--upstream-url '{}': {}; accepted: http://HOST[:PORT]", url, why));
}

HostPort split(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  if (!url.starts_with(kScheme)) refuse(url, "it does not begin with http://");
  std::string_view rest = url.substr(kScheme.size());
  if (rest.ends_with('/')) rest.remove_suffix(1);
  if (rest.find('/') != std::string_view::npos) refuse(url, "a path is not accepted");
  HostPort result;
  const auto colon = rest.rfind(':');
  const bool bracketed = rest.starts_with('[');
  if (colon != std::string_view::npos && !(bracketed && rest.ends_with(']'))) {
    result.port = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
  }
  if (bracketed && rest.ends_with(']')) rest = rest.substr(1, rest.size() - 2);
  if (rest.empty()) refuse(url, "the host is missing");
  result.host = rest;
  return result;
}

void check_port(std::string_view url, std::string_view port) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc{} || end != port.data() + port.size() || number < 1 || number > 65'535) {
    refuse(url, fmt::format("'{}' is no port between 1 and 65535", port));
  }
}

}  // namespace

ClientOptions client_options_for(std::string_view url) {
  const HostPort parts = split(url);
  check_port(url, parts.port);
  boost::asio::io_context context;
  boost::asio::ip::tcp::resolver resolver(context);
  boost::system::error_code error;
  const auto found = resolver.resolve(parts.host, parts.port, error);
  if (error || found.empty()) refuse(url, "the host cannot be resolved: " + error.message());
  ClientOptions options;
  options.socket.peer = found.begin()->endpoint();
  const bool v6_literal = parts.host.find(':') != std::string::npos;
  options.host = fmt::format(fmt::runtime(v6_literal ? "[{}]:{}" : "{}:{}"), parts.host, parts.port);
  return options;
}

}  // namespace heddle::upstream
