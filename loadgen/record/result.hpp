// The outcome of one run, as reports and the caller see it.
#pragma once

#include "loadgen/record/counts.hpp"

#include <cstdint>
#include <map>
#include <optional>
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

// What is known of a run before it starts.
struct RunInfo {
  std::string name;
  std::uint64_t seed = 0;
  Anchor anchor;
  std::vector<std::string> classes;  // request names
  std::vector<std::string> stages;
  std::vector<bool> stage_measured;
  bool closed_loop = false;  // users without think time: the due time is the send time
  bool users = false;
  std::int64_t connections = 0;
  std::int64_t planned_nanos = 0;  // sum of all stages
};

struct ThreadStats {
  int cpu = -1;  // -1: not pinned
  double window_seconds = 0;
  double busy_seconds = 0;  // not waiting for events
  double cpu_seconds = 0;
  double run_delay_seconds = 0;  // runnable, but not running
  std::int64_t connections = 0;
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
  std::map<std::string, std::int64_t> by_source;  // local address -> successful connects

  [[nodiscard]] std::int64_t refused() const;
  void merge(const ConnectionStats& other);  // all but peak and all_open_nanos
};

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
  Histogram turns;
  double useful_busy_share = 0;  // of the busiest thread
  double cpu_seconds = 0;        // over the measure window, all engine threads
  std::vector<ThreadStats> threads;
};

struct RunResult {
  RunInfo info;
  Status status = Status::complete;
  std::string reason;
  Generator generator;
  ConnectionStats connections;
  std::vector<StageResult> stages;          // those that began
  std::optional<std::int64_t> drain_nanos;  // after the warm-up; empty without one
  bool drain_timed_out = false;
  std::int64_t grace_nanos = 0;  // really used after the last stage

  // All measure stages as one; empty when none began.
  [[nodiscard]] std::optional<StageResult> window() const;
};

}  // namespace heddle::record
