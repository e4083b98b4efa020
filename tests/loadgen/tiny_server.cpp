#include "tests/loadgen/tiny_server.hpp"

#include "tests/loadgen/fake_server.hpp"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

namespace heddle::testing {

engine::Address literal(const std::string& host, int port) {
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(static_cast<std::uint16_t>(port));
  if (inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1) {
    return engine::make_address(reinterpret_cast<const sockaddr*>(&v6), sizeof v6, true);
  }
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(static_cast<std::uint16_t>(port));
  if (inet_pton(AF_INET, host.c_str(), &v4.sin_addr) != 1) throw std::runtime_error("no literal: " + host);
  return engine::make_address(reinterpret_cast<const sockaddr*>(&v4), sizeof v4, true);
}

bool can_bind(const std::string& host) {
  const auto address = literal(host, 0);
  const int fd = socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const bool bound = bind(fd, address.get(), address.size) == 0;
  close(fd);
  return bound;
}

TinyServer::TinyServer(const engine::Address& address, Options options) : going_{!options.waits} {
  listener_ = socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener_ < 0 || bind(listener_, address.get(), address.size) != 0 ||
      listen(listener_, options.backlog) != 0) {
    const std::string why = std::strerror(errno);
    if (listener_ >= 0) close(listener_);
    throw std::runtime_error("cannot listen on " + address.text + ": " + why);
  }
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  getsockname(listener_, reinterpret_cast<sockaddr*>(&bound), &size);
  // The port stands at the same place in both families.
  if (!address.is_unix()) port_ = ntohs(reinterpret_cast<const sockaddr_in&>(bound).sin_port);
  thread_ = std::thread{[this] { serve(); }};
}

TinyServer::~TinyServer() {
  stopping_.store(true);
  thread_.join();
  for (const auto& [fd, bytes] : received_) close(fd);
  close(listener_);
}

std::string TinyServer::first_head() const {
  const std::lock_guard lock{mutex_};
  return first_head_;
}

void TinyServer::serve() {
  while (!going_.load() && !stopping_.load()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  while (!stopping_.load()) {
    std::vector<pollfd> polls{{listener_, POLLIN, 0}};
    for (const auto& [fd, bytes] : received_) polls.push_back({fd, POLLIN, 0});
    if (poll(polls.data(), polls.size(), 20) <= 0) continue;
    for (const auto& entry : polls) {
      if (entry.revents == 0) continue;
      if (entry.fd != listener_) {
        read_from(entry.fd);
        continue;
      }
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd < 0) continue;
      received_[fd];
      accepted_.fetch_add(1);
    }
  }
}

void TinyServer::read_from(int fd) {
  std::array<char, 4096> buffer{};
  const auto count = recv(fd, buffer.data(), buffer.size(), 0);
  if (count < 0 && errno == EAGAIN) return;
  if (count <= 0) {
    close(fd);
    received_.erase(fd);
    return;
  }
  auto& bytes = received_[fd];
  bytes.append(buffer.data(), static_cast<std::size_t>(count));
  const auto end = bytes.find("\r\n\r\n");
  if (end == std::string::npos) return;
  {
    const std::lock_guard lock{mutex_};
    if (first_head_.empty()) first_head_ = bytes.substr(0, end);
  }
  bytes.erase(0, end + 4);
  answered_.fetch_add(1);
  (void)send(fd, kHello.data(), kHello.size(), MSG_NOSIGNAL);
}

}  // namespace heddle::testing
