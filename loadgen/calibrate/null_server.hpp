// An HTTP server that does nothing but answer: what a load generator reaches against it is the generator's
// own limit. A process of its own, so that it has descriptors and a CPU of its own.
#pragma once

#include "loadgen/engine/clock.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>

namespace heddle::load {

// When a stall really began and ended; CLOCK_MONOTONIC, which all processes of a host share.
struct StallLog {
  engine::Nanos began = 0;
  engine::Nanos ended = 0;
};

class NullServer {
 public:
  // Listens on a free port of 127.0.0.1, then forks: call it while this process has one thread. The child is
  // pinned to `cpu` when there is one, keeps connections alive, answers every request head (bodies are not
  // expected) with a fixed 200 in one write, and ends with this object or this process. Throws
  // std::system_error.
  explicit NullServer(std::optional<int> cpu);
  ~NullServer();
  NullServer(const NullServer&) = delete;
  NullServer& operator=(const NullServer&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string url() const;

  // From `at` on it neither accepts, reads nor answers for `length`. One stall at a time; does not block.
  void stall(engine::Nanos at, engine::Nanos length);
  // The last one that is over; empty before.
  [[nodiscard]] std::optional<StallLog> last_stall() const;

  // Answers so far.
  [[nodiscard]] std::int64_t answered() const;
  // Why it takes no more connections (too few descriptors); empty while all is well.
  [[nodiscard]] std::string problem() const;

 private:
  struct Shared;
  class Loop;

  std::uint16_t port_ = 0;  // before listener_, whose initialiser sets it
  int listener_ = -1;
  int wake_ = -1;
  Shared* shared_ = nullptr;
  pid_t child_ = -1;
};

}  // namespace heddle::load
