// The outcome of one run, as reports and the caller see it.
#pragma once

#include "loadgen/record/ceiling.hpp"
#include "loadgen/record/counts.hpp"
#include "loadgen/record/request_log.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heddle::record {

enum class Status : std::uint8_t { complete, interrupted, failed };
[[nodiscard]] std::string_view name_of(Status status);

// One moment on both clocks.
struct Anchor {
  std::int64_t epoch_millis = 0;
  std::int64_t monotonic_nanos = 0;

  [[nodiscard]] std::int64_t epoch_millis_at(std::int64_t monotonic) const {
    return epoch_millis + (monotonic - monotonic_nanos) / 1'000'000;
  }
};

// How the load was made, as far as it changes what is measured. Times in ns.
struct Settings {
  std::int64_t threads = 1;
  std::optional<double> connect_per_second;  // empty = all at once
  bool keep_alive = true;
  std::optional<std::int64_t> requests_per_connection;
  std::string when_busy;
  std::int64_t request_timeout = 0;  // 0 = none
  std::int64_t connect_timeout = 0;  // 0 = none
  std::int64_t grace = 0;
  std::optional<std::int64_t> spin;  // empty = as long as wake-ups are late
  bool own_descriptor_tables = false;
  std::string congestion_control;  // empty = the host's
};

// What is known of a run before it starts.
struct RunInfo {
  std::string name;
  std::uint64_t seed = 0;
  Anchor anchor;
  std::vector<std::string> classes;  // request names
  std::vector<std::string> targets;  // addresses that are connected to, with ports
  std::vector<std::string> stages;
  std::vector<bool> stage_measured;
  bool closed_loop = false;  // users without think time: the due time is the send time
  bool users = false;
  std::int64_t connections = 0;
  Settings settings;
  std::int64_t planned_nanos = 0;  // sum of all stages
};

// One engine thread over the measure window.
struct ThreadStats {
  int cpu = -1;  // -1: not pinned
  double window_seconds = 0;
  double busy_seconds = 0;  // sending and handling answers, being pre-empted meanwhile included
  double cpu_seconds = 0;
  double spin_seconds = 0;             // polling for the next due time: no useful work
  double run_delay_seconds = 0;        // runnable, but not running
  double spin_window_micros = 0;       // how long before a due time it polls, at the end
  double in_flight_seconds = 0;        // requests on the wire, integrated over the window
  double total_in_flight_seconds = 0;  // the same requests until the last of them had ended
  // The worst of its stages: a light stage must not hide a heavy one.
  double worst_useful_share = 0;
  double worst_delay_share = 0;
  std::int64_t connections = 0;
  std::int64_t sent = 0;
  Histogram lag;

  // 0 to 1; 0 without a window. The CPU time holds the system calls that waiting costs, the busy time being
  // pre-empted: whichever is more.
  [[nodiscard]] double useful_share() const {
    return window_seconds > 0 ? std::max(busy_seconds, cpu_seconds - spin_seconds) / window_seconds : 0;
  }
  [[nodiscard]] double delay_share() const {
    return window_seconds > 0 ? run_delay_seconds / window_seconds : 0;
  }
};

// Connections from one source address, all threads together.
struct SourceStats {
  std::int64_t asked = 0;
  std::int64_t opened = 0;  // of those asked for, how many were open at least once
  std::int64_t peak = 0;    // most open at once
  std::int64_t lost = 0;
  std::int64_t reopened = 0;

  void merge(const SourceStats& other);  // all but peak
};

struct ConnectionStats {
  std::int64_t asked = 0;
  std::int64_t opened = 0;                     // of those asked for, how many were open at least once
  std::int64_t peak = 0;                       // most open at once
  std::int64_t lost = 0;                       // ended by the server or by an error
  std::int64_t reopened = 0;                   // successful connects beyond the first of each
  std::map<std::string, std::int64_t> errors;  // failed attempts by class, "other:ENAME" for the rest
  std::optional<std::int64_t> all_open_nanos;  // until all asked for were open; empty when they never were
  Histogram connect_time;
  std::map<std::string, SourceStats> by_source;  // local address; none when the kernel chooses

  [[nodiscard]] std::int64_t refused() const;
  void merge(const ConnectionStats& other);  // all but peak and all_open_nanos
};

// All cells as one, requests in flight included.
[[nodiscard]] Cell sum_of(std::span<const Cell> cells);

struct StageResult {
  std::string name;
  bool measured = true;
  std::int64_t start_nanos = 0;  // CLOCK_MONOTONIC
  std::int64_t end_nanos = 0;
  std::vector<Cell> classes;

  [[nodiscard]] Cell total() const;
};

enum class Verdict : std::uint8_t { ok, late, saturated };
[[nodiscard]] std::string_view name_of(Verdict verdict);

struct Generator {
  Verdict verdict = Verdict::ok;
  std::string reason;
  Histogram lag;
  std::vector<Histogram> stage_lags;  // of the measure stages
  Histogram turns;
  double useful_busy_share = 0;  // of the busiest thread
  double cpu_seconds = 0;        // over the measure window, all engine threads
  std::vector<ThreadStats> threads;
  std::optional<Ceiling> ceiling;  // empty without a calibration of this host
};

// Little's law: requests on the wire on average = rate x time on the wire. The left side is counted without
// looking at durations, the right side is the sum of all recorded ones, so they check each other.
struct LittlesLaw {
  double mean_in_flight = 0;  // over the measure window
  // Of all requests of the measure stages until the last had ended: both sides times the window's length.
  double counted_seconds = 0;
  double recorded_seconds = 0;
};

// What was asked for and what came of it, over the measure window.
struct Throughput {
  std::optional<double> offered_per_second;  // empty for users: their rate depends on the answers
  double sent_per_second = 0;
  double ok_per_second = 0;
  std::string cause;  // why fewer succeeded than were offered; empty when 99 % did or nothing was offered
};

// Unknown: the numbers do not tell. It counts as not met.
enum class SloState : std::uint8_t { met, missed, unknown };
[[nodiscard]] std::string_view name_of(SloState state);

// One service level objective and what came of it.
struct SloResult {
  std::string objective;  // "p99", "get-movies:service-p50", "errors", "rate", ...
  std::string unit;       // of limit and value: "ms", "%", "/s"
  double limit = 0;
  std::optional<double> value;  // empty = not known
  bool at_least = false;        // the true value is `value` or more
  SloState state = SloState::unknown;
  std::string reason;  // empty when met
};

struct RunResult {
  RunInfo info;
  Status status = Status::complete;
  std::string reason;
  Generator generator;
  std::optional<LittlesLaw> littles_law;  // empty when no measure stage began
  std::optional<Throughput> throughput;   // likewise
  ConnectionStats connections;
  std::vector<StageResult> stages;          // those that began
  std::optional<std::int64_t> drain_nanos;  // after the warm-up; empty without one
  bool drain_timed_out = false;
  std::int64_t grace_nanos = 0;             // really used after the last stage
  std::vector<SloResult> slo;               // one per objective
  std::optional<RequestRows> request_rows;  // empty without --record-requests

  // All measure stages as one; empty when none began.
  [[nodiscard]] std::optional<StageResult> window() const;
};

}  // namespace heddle::record
