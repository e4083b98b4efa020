#include "tests/loadgen/fake_server.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

namespace heddle::testing {
namespace {

struct Bound {
  int fd = -1;
  int port = 0;
};

// A free one for 0.
Bound bind_port(int port = 0) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (fd < 0 || bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("no free port");
  }
  return {fd, ntohs(address.sin_port)};
}

std::size_t body_size(const std::string& head) {
  const auto at = head.find("Content-Length: ");
  return at == std::string::npos ? 0 : std::stoul(head.substr(at + std::strlen("Content-Length: ")));
}

}  // namespace

int closed_port() {
  const auto bound = bind_port();
  close(bound.fd);
  return bound.port;
}

bool FakeServer::Peer::write(std::string_view bytes) const {
  while (!bytes.empty()) {
    const auto count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

void FakeServer::Peer::write_split(std::string_view bytes, std::size_t at) const {
  write(bytes.substr(0, at));
  if (at < bytes.size()) pause(std::chrono::milliseconds{1});
  write(bytes.substr(std::min(at, bytes.size())));
}

void FakeServer::Peer::pause(std::chrono::milliseconds time) const {
  const auto end = std::chrono::steady_clock::now() + time;
  while (!stopping_.load() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
}

FakeServer::FakeServer(Behaviour behaviour, int port) : behaviour_{std::move(behaviour)} {
  const auto bound = bind_port(port);
  listener_ = bound.fd;
  port_ = bound.port;
  if (listen(listener_, 1024) != 0) throw std::runtime_error("cannot listen");
  acceptor_ = std::thread{[this] { accept_all(); }};
}

FakeServer::~FakeServer() {
  stopping_.store(true);
  acceptor_.join();
  {
    const std::lock_guard lock{mutex_};
    for (const int fd : open_) shutdown(fd, SHUT_RDWR);
  }
  for (auto& session : sessions_) session.join();
  close(listener_);
}

std::string FakeServer::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + path;
}

std::vector<Seen> FakeServer::seen() const {
  const std::lock_guard lock{mutex_};
  return seen_;
}

std::vector<std::string> FakeServer::peers() const {
  const std::lock_guard lock{mutex_};
  return peers_;
}

void FakeServer::accept_all() {
  while (!stopping_.load()) {
    pollfd wait{listener_, POLLIN, 0};
    if (poll(&wait, 1, 20) <= 0) continue;
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    const int fd = accept4(listener_, reinterpret_cast<sockaddr*>(&peer), &size, SOCK_CLOEXEC);
    if (fd < 0) continue;
    std::array<char, INET_ADDRSTRLEN> text{};
    inet_ntop(AF_INET, &peer.sin_addr, text.data(), text.size());
    const std::lock_guard lock{mutex_};
    open_.push_back(fd);
    peers_.emplace_back(text.data());
    sessions_.emplace_back([this, fd, number = accepted_.fetch_add(1)] { serve(fd, number); });
  }
}

void FakeServer::serve(int fd, int connection) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const Peer peer{fd, stopping_};
  std::string bytes;
  std::array<char, 4096> buffer{};
  auto then = Then::keep;
  for (int number = 0; then == Then::keep; ++number) {
    auto end = bytes.find("\r\n\r\n");
    int reads = 0;
    while (end == std::string::npos || bytes.size() < end + 4 + body_size(bytes.substr(0, end))) {
      const auto count = recv(fd, buffer.data(), buffer.size(), 0);
      if (count <= 0) break;
      ++reads;
      bytes.append(buffer.data(), static_cast<std::size_t>(count));
      end = bytes.find("\r\n\r\n");
    }
    if (end == std::string::npos) break;
    const auto head = bytes.substr(0, end);
    const auto length = body_size(head);
    Seen seen{connection, number,
              head,       bytes.substr(end + 4, length),
              reads,      bytes.size() - std::min(bytes.size(), end + 4 + length)};
    bytes.erase(0, end + 4 + length);
    {
      const std::lock_guard lock{mutex_};
      seen_.push_back(seen);
    }
    then = behaviour_(peer, seen);
  }
  const std::lock_guard lock{mutex_};
  std::erase(open_, fd);
  if (then == Then::reset) {
    const linger now{1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  }
  close(fd);
}

FullServer::FullServer() {
  const auto bound = bind_port();
  port_ = bound.port;
  sockets_.push_back(bound.fd);
  // One connection fits into a queue of length 0 (listen(2) on Linux); the others show that it is full.
  if (listen(bound.fd, 0) != 0) throw std::runtime_error("cannot listen");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port_));
  for (int i = 0; i < 3; ++i) {
    sockets_.push_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    (void)connect(sockets_.back(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
}

FullServer::~FullServer() {
  for (const int fd : sockets_) close(fd);
}

}  // namespace heddle::testing
