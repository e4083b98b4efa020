// One connection: small, because there are tens of thousands. Its receive buffer and, mostly, its parser are
// the thread's.
#pragma once

#include "loadgen/engine/clock.hpp"
#include "loadgen/http/response.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace heddle::engine {

inline constexpr std::uint32_t kNone = UINT32_MAX;

enum class State : std::uint8_t {
  closed,  // no descriptor; maybe a reopening is due
  connecting,
  idle,  // open, free for a request
  busy,  // a request is on the wire
};

// Which request is on the wire and when it was due.
struct Ticket {
  Nanos due = 0;
  std::uint32_t stage = 0;
  std::uint16_t request_class = 0;
};

struct Connection {
  int fd = -1;
  State state = State::closed;
  bool wanted = false;         // reopen it when it is lost
  bool opened_before = false;  // it was open at least once
  bool resolved = false;       // its first attempt has ended
  std::uint8_t failures = 0;   // in a row: attempts, and connections that ended without an answer
  std::uint16_t target = 0;
  std::uint32_t source = 0;
  std::uint32_t written = 0;       // bytes of the request
  std::uint32_t generation = 0;    // counts descriptors: an event of an earlier one is stale
  std::uint32_t previous = kNone;  // in the list of deadlines
  std::uint32_t next = kNone;
  Ticket ticket;
  Nanos sent = 0;        // of the request; of the attempt while connecting
  Nanos first_byte = 0;  // 0 = none yet
  Nanos free_since = 0;
  std::int64_t answered = 0;                // on this descriptor
  std::unique_ptr<http::Response> partial;  // an answer that came in more than one read
};

// Connections that wait for something with one common time limit, oldest first. A list through the
// connections themselves: one deadline each, no timer, no allocation.
class DeadlineList {
 public:
  explicit DeadlineList(std::vector<Connection>& connections) : connections_{connections} {}

  void append(std::uint32_t index) {
    auto& entry = connections_[index];
    entry.previous = tail_;
    entry.next = kNone;
    (tail_ == kNone ? head_ : connections_[tail_].next) = index;
    tail_ = index;
  }
  void remove(std::uint32_t index) {
    auto& entry = connections_[index];
    (entry.previous == kNone ? head_ : connections_[entry.previous].next) = entry.next;
    (entry.next == kNone ? tail_ : connections_[entry.next].previous) = entry.previous;
    entry.previous = entry.next = kNone;
  }
  [[nodiscard]] std::uint32_t oldest() const { return head_; }

 private:
  std::vector<Connection>& connections_;
  std::uint32_t head_ = kNone;
  std::uint32_t tail_ = kNone;
};

}  // namespace heddle::engine
