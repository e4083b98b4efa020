// An epoll instance with a wake-up from other threads and a wait until a moment in ns.
#pragma once

#include "loadgen/engine/clock.hpp"

#include <cstdint>
#include <span>
#include <sys/epoll.h>
#include <vector>

namespace heddle::engine {

class Poller {
 public:
  // Throws std::system_error.
  Poller();
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  // Edge-triggered, for everything, once per descriptor: a connection is registered when it is opened and
  // never touched again; closing it removes it. Returns 0 or an errno.
  [[nodiscard]] int add(int fd, std::uint64_t token);

  // Blocks until there are events, wake() was called, or the clock reads `until`. The span is valid until the
  // next call.
  [[nodiscard]] std::span<const epoll_event> wait(Nanos until);

  // The same without sleeping: asks again and again until there are events or the clock reads `until`, at
  // least once.
  [[nodiscard]] std::span<const epoll_event> poll(Nanos until);

  // From any thread.
  void wake();

 private:
  [[nodiscard]] std::span<const epoll_event> found(int count);

  static constexpr std::uint64_t kWakeToken = UINT64_MAX;

  int epoll_ = -1;
  int event_ = -1;
  std::vector<epoll_event> events_;
};

}  // namespace heddle::engine
