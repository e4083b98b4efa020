// What happened to requests: exactly one terminal state each.
#pragma once

#include "loadgen/record/percentile.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace heddle::record {

enum class TransportError : std::uint8_t {
  refused,          // nobody listens
  connect_timeout,  // no connection within the connect timeout, or the kernel's
  reset,            // the connection broke before or in the middle of the answer
  stale_reuse,      // a kept-alive connection was closed by the server just as it was used again
  truncated,        // the connection ended in good order before the answer was complete
  malformed,        // no HTTP, more bytes than announced, or not the expected body size
  other,            // anything else, by errno
};
inline constexpr std::size_t kTransportErrors = 7;
[[nodiscard]] std::string_view name_of(TransportError error);

// A transport error and, for `other`, its errno.
struct Failure {
  TransportError error = TransportError::other;
  int code = 0;
};

struct Counts {
  std::int64_t planned = 0;
  std::int64_t sent = 0;
  std::int64_t shed = 0;
  std::int64_t unsent = 0;
  std::int64_t ok = 0;
  std::int64_t ok_in_time = 0;                // of them, those that came before the load's planned end
  std::array<std::int64_t, 6> http_errors{};  // by first digit of the status; [0] is not used
  std::array<std::int64_t, kTransportErrors> transport{};
  std::map<int, std::int64_t> other;  // errno -> how many of transport[other]
  std::int64_t timeouts = 0;
  std::int64_t in_flight = 0;  // in an interval: at its end; in totals: without an answer at the end of all
  std::int64_t bytes_sent = 0;
  std::int64_t bytes_received = 0;
  std::int64_t failed_micros = 0;  // on the wire, of the HTTP and transport errors together

  void add_failure(Failure failure);
  [[nodiscard]] std::int64_t http_error_sum() const;
  [[nodiscard]] std::int64_t transport_sum() const;
  // Everything that was neither ok nor in flight: HTTP and transport errors, timeouts.
  [[nodiscard]] std::int64_t errors() const { return http_error_sum() + transport_sum() + timeouts; }
  // Adds everything but in_flight, which is a level.
  void merge(const Counts& other_counts);
};

// Empty when planned = sent + shed + unsent and sent = ok + HTTP errors + transport errors + timeouts + in
// flight; else both equations with their numbers.
[[nodiscard]] std::string imbalance(const Counts& counts);

// Why a run without one answer as expected is a failure: what became of the planned requests, in one line.
[[nodiscard]] std::string no_success(const Counts& counts);

// One request type in one stage. `latency` counts from when it was due, `service` and `first_byte` from when
// it was sent. Only answers that were as expected enter; those without an answer enter as waiting.
struct Cell {
  Counts counts;
  Distribution latency;
  Distribution service;
  Distribution first_byte;

  void merge(const Cell& other);
  void clear();
};

}  // namespace heddle::record
