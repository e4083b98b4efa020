// An HTTP server in the test for any kind of address: it answers every request with kHello.
#pragma once

#include "loadgen/engine/endpoint.hpp"

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace heddle::testing {

// A target without a name server: "127.0.0.2" or "::1" with a port (0 = any).
[[nodiscard]] engine::Address literal(const std::string& host, int port);

// Can a socket be bound to the host's address; false for ::1 where IPv6 is off.
[[nodiscard]] bool can_bind(const std::string& host);

class TinyServer {
 public:
  struct Options {
    int backlog = 1024;
    bool waits = false;  // accepts nobody before go()
  };

  // Listens there; one thread serves all. Throws std::runtime_error.
  explicit TinyServer(const engine::Address& address, Options options = {1024, false});
  ~TinyServer();
  TinyServer(const TinyServer&) = delete;
  TinyServer& operator=(const TinyServer&) = delete;

  void go() { going_.store(true); }
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] int accepted() const { return accepted_.load(); }
  [[nodiscard]] int answered() const { return answered_.load(); }
  // The first request's head; empty before one came.
  [[nodiscard]] std::string first_head() const;

 private:
  void serve();
  void read_from(int fd);

  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> going_;
  std::atomic<bool> stopping_{false};
  std::atomic<int> accepted_{0};
  std::atomic<int> answered_{0};
  mutable std::mutex mutex_;
  std::string first_head_;
  std::map<int, std::string> received_;  // by connection, since its last answer
  std::thread thread_;
};

}  // namespace heddle::testing
