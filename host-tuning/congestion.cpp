#include "host-tuning/congestion.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

namespace heddle::host {
namespace {

constexpr std::size_t kNameBytes = 16;  // TCP_CA_NAME_MAX of the kernel, its zero byte included

std::vector<std::string> words_of(const char* path) {
  std::ifstream file(path);
  std::vector<std::string> words;
  for (std::string word; file >> word;) words.push_back(word);
  if (words.empty()) {
    throw std::system_error(std::make_error_code(std::errc::no_such_file_or_directory),
                            fmt::format("cannot read {}", path));
  }
  return words;
}

// For messages: the kernel's list, or that it does not tell.
std::string on_offer() {
  try {
    std::string names;
    for (const std::string& name : available_congestion_controls())
      names += (names.empty() ? "" : ", ") + name;
    return names;
  } catch (const std::system_error&) {
    return "unknown";
  }
}

}  // namespace

std::vector<std::string> available_congestion_controls() {
  auto names = words_of("/proc/sys/net/ipv4/tcp_available_congestion_control");
  const auto chosen = words_of("/proc/sys/net/ipv4/tcp_congestion_control").front();
  std::ranges::stable_partition(names, [&](const std::string& name) { return name == chosen; });
  return names;
}

void set_congestion_control(int socket, std::string_view name) {
  if (setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), static_cast<socklen_t>(name.size())) !=
      0) {
    const int reason = errno;
    throw std::system_error(
        reason, std::generic_category(),
        fmt::format("cannot use the congestion control \"{}\"; this kernel offers {}", name, on_offer()));
  }
}

bool may_use_congestion_control(std::string_view name) {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return false;
  const auto bytes = static_cast<socklen_t>(name.size());
  const bool usable = setsockopt(probe, IPPROTO_TCP, TCP_CONGESTION, name.data(), bytes) == 0;
  close(probe);
  return usable;
}

std::string congestion_control(int socket) {
  std::array<char, kNameBytes> name{};
  socklen_t bytes = name.size();
  if (getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), &bytes) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot read the congestion control of a socket");
  }
  return {name.begin(), std::find(name.begin(), name.begin() + bytes, '\0')};
}

}  // namespace heddle::host
