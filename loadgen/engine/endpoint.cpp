#include "loadgen/engine/endpoint.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdexcept>
#include <unistd.h>

#include <fmt/format.h>

namespace heddle::engine {
namespace {

const sockaddr_in* as_ipv4(const Address& address) {
  if (address.storage.ss_family != AF_INET) return nullptr;
  return reinterpret_cast<const sockaddr_in*>(&address.storage);
}

std::string numeric(const Address& address) {
  std::array<char, NI_MAXHOST> text{};
  getnameinfo(address.get(), address.size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  return text.data();
}

Opened failed(int fd) {
  const int error = errno;
  if (fd >= 0) close(fd);
  return {-1, error};
}

}  // namespace

Address resolve(const plan::Url& url) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(url.host.c_str(), std::to_string(url.port).c_str(), &hints, &found);
  if (error != 0)
    throw std::runtime_error(fmt::format("cannot resolve '{}': {}", url.host, gai_strerror(error)));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner{found, &freeaddrinfo};
  const addrinfo* chosen = found;
  for (const auto* entry = found; entry != nullptr; entry = entry->ai_next) {
    if (entry->ai_family == AF_INET) {
      chosen = entry;
      break;
    }
  }
  Address address;
  std::memcpy(&address.storage, chosen->ai_addr, chosen->ai_addrlen);
  address.size = chosen->ai_addrlen;
  address.text = numeric(address);
  return address;
}

Address ipv4_address(const std::string& text) {
  sockaddr_in ipv4{};
  ipv4.sin_family = AF_INET;
  if (inet_pton(AF_INET, text.c_str(), &ipv4.sin_addr) != 1) {
    throw std::invalid_argument(fmt::format("sourceAddresses: found '{}', accepted: an IPv4 address", text));
  }
  Address address;
  std::memcpy(&address.storage, &ipv4, sizeof ipv4);
  address.size = sizeof ipv4;
  address.text = text;
  return address;
}

bool is_loopback_v4(const Address& address) {
  const auto* ipv4 = as_ipv4(address);
  return ipv4 != nullptr && (ntohl(ipv4->sin_addr.s_addr) >> 24) == 127;
}

std::size_t sources_needed(std::int64_t connections, std::int64_t ports, bool short_lived) {
  const auto usable = std::max<std::int64_t>(1, ports * 7 / 10);
  const auto needed = std::max<std::int64_t>(1, (connections + usable - 1) / usable);
  return static_cast<std::size_t>(short_lived ? std::max<std::int64_t>(needed, 32) : needed);
}

std::vector<std::string> loopback_sources(std::size_t count, const std::vector<std::string>& taken) {
  std::vector<std::string> sources;
  for (std::uint32_t host = 2; sources.size() < count; ++host) {
    if ((host & 0xff) == 0 || (host & 0xff) == 255) continue;  // look like network and broadcast addresses
    auto text = fmt::format("127.{}.{}.{}", host >> 16 & 0xff, host >> 8 & 0xff, host & 0xff);
    if (std::find(taken.begin(), taken.end(), text) == taken.end()) sources.push_back(std::move(text));
  }
  return sources;
}

std::int64_t local_port_count() {
  std::ifstream in{"/proc/sys/net/ipv4/ip_local_port_range"};
  std::int64_t low = 0;
  std::int64_t high = 0;
  if (in >> low >> high && high >= low) return high - low + 1;
  return 28'232;
}

std::vector<Address> choose_sources(const plan::Plan& plan, const std::vector<Address>& targets) {
  std::vector<std::string> chosen = plan.sources;
  if (plan.auto_sources && std::all_of(targets.begin(), targets.end(), is_loopback_v4)) {
    std::vector<std::string> taken;
    for (const auto& target : targets) taken.push_back(target.text);
    const bool short_lived = !plan.keep_alive || plan.requests_per_connection.has_value();
    chosen = loopback_sources(sources_needed(plan.connections, local_port_count(), short_lived), taken);
  }
  std::vector<Address> addresses;
  for (const auto& text : chosen) addresses.push_back(ipv4_address(text));
  return addresses;
}

Opened start_connect(const Address& target, const Address* source, const SocketOptions& options) {
  const int fd = socket(target.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
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
    // all.
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    if (bind(fd, source->get(), source->size) != 0) return failed(fd);
  }
  if (connect(fd, target.get(), target.size) != 0 && errno != EINPROGRESS) return failed(fd);
  return {fd, 0};
}

}  // namespace heddle::engine
