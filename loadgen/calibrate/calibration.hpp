// What `heddle-load --calibrate` finds out about a host. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle::load {

struct HostId {
  std::string cpu_model;
  std::string kernel;  // release
  int cpus = 0;        // that this process may use

  // The same machine as far as speed goes, whatever part of it a process may use.
  [[nodiscard]] bool same_host(const HostId& other) const {
    return cpu_model == other.cpu_model && kernel == other.kernel;
  }
};

// Reads /proc and uname; "unknown" where they do not tell. Blocks for a moment.
[[nodiscard]] HostId this_host();

// Repeats of one measurement: on a virtual machine they differ, and that is part of the result.
struct Spread {
  double median = 0;
  double low = 0;
  double high = 0;
};
// The median of an even number is the mean of the middle two. At least one value.
[[nodiscard]] Spread spread_of(std::vector<double> values);

// A thread that waited for its CPU for a larger share of the time shared it with others: the numbers are
// theirs, too.
inline constexpr double kDisturbed = 0.05;

// A closed loop against the null server: as many requests as the generator can make.
struct CeilingPoint {
  std::int64_t connections = 0;  // per engine thread
  Spread per_second;             // requests per engine thread
  Spread cpu_micros;             // of the generator, per request
  Spread busy_share;             // useful, of the busiest thread
};

// A fixed rate against the null server: how late requests were sent.
struct PacingPoint {
  std::int64_t connections = 0;  // in all
  double per_second = 0;         // in all
  // us; empty without enough samples or when skipped.
  std::optional<std::int64_t> p50;
  std::optional<std::int64_t> p99;
  std::optional<std::int64_t> max;
  double busy_share = 0;
  std::string skipped;  // why it was not measured; empty when it was
};

// A fixed rate while the null server stands still once. What a user would see is in the latency from due and
// not in the service time from sent, which is the classic mistake of closed loops.
struct StallCheck {
  std::int64_t connections = 0;
  double per_second = 0;
  double window_seconds = 0;
  double stall_millis = 0;  // as the server logged it
  double expected_due_millis = 0;
  double tolerance_millis = 0;
  std::optional<double> due_millis;   // p99 from due
  double most_sent_millis = 0;        // the service time's p99 may be this much
  std::optional<double> sent_millis;  // p99 from sent
  // Requests without an answer at the end: with many of them a p99 is not known, and the check fails.
  std::int64_t unanswered = 0;

  [[nodiscard]] bool due_passed() const;
  [[nodiscard]] bool sent_passed() const;
};

struct Calibration {
  std::string utc;
  std::string version;
  HostId host;
  std::int64_t threads = 1;
  std::vector<int> thread_cpus;
  std::vector<int> server_cpus;
  bool shared_cpus = false;  // null servers and engine threads have no CPUs of their own
  bool quick = false;
  double run_delay_share = 0;  // the most that a thread waited for its CPU in any run: something else had it
  std::vector<CeilingPoint> ceiling;
  std::vector<PacingPoint> pacing;
  StallCheck stall;
};

}  // namespace heddle::load
