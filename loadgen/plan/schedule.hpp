// When request k of a stage is due, and when user u starts or retires. Everything is relative to the stage's
// start and comes from the closed form of the rate's integral, so it is the same for any number of threads
// and connections and carries no error from one request to the next.
#pragma once

#include "loadgen/plan/plan.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace heddle::plan {

// floor of the integral of the rate over the stage: exactly this many requests are due in it. Rates only, not
// Poisson (whose count is a draw).
[[nodiscard]] std::int64_t arrival_count(const Stage& stage);

// Due time of request k, in ns from the stage's start, rounded to the nearest. k < arrival_count.
[[nodiscard]] Nanos arrival_due(const Stage& stage, std::int64_t k);

struct Arrival {
  Nanos due = 0;  // ns from the start of the first stage
  std::uint32_t stage = 0;
  std::uint64_t index = 0;  // k within the stage
};

// Walks the requests that thread `thread` of `threads` sends over consecutive stages: k = thread, thread +
// threads, ... of every stage. Keeps no queue: constant memory however far it lags behind.
class ArrivalCursor {
 public:
  // `first_stage` is the number that the first stage gets in Arrival::stage. `stages` must outlive it.
  ArrivalCursor(std::span<const Stage> stages, std::uint32_t first_stage, std::uint64_t seed,
                std::uint32_t thread, std::uint32_t threads);

  // The next request, or nothing after the last.
  [[nodiscard]] const std::optional<Arrival>& peek() const { return next_; }
  void advance();

 private:
  void enter_stage();
  void settle();
  [[nodiscard]] Nanos due_of(std::int64_t k);

  std::span<const Stage> stages_;
  std::uint32_t first_stage_;
  std::uint64_t seed_;
  std::uint32_t thread_;
  std::uint32_t threads_;
  std::size_t stage_ = 0;
  Nanos offset_ = 0;
  std::int64_t k_ = 0;
  std::int64_t count_ = 0;
  double poisson_sum_ = 0;         // seconds, up to and with the gap of poisson_next_ - 1
  std::int64_t poisson_next_ = 0;  // how many gaps are in the sum
  std::optional<Arrival> next_;
};

struct UserChange {
  Nanos at = 0;  // ns from the start of the first stage
  std::int64_t user = 0;
  bool start = true;     // false: retire
  bool at_once = false;  // a jump at a stage's start or a constant stage, not a step of a ramp
};

// The starts and retirements of the users of one thread (user mod threads), in time order. Active users are
// always 0..n-1; a ramp down retires the highest first. On a ramp from a to b over D user u >= a starts at
// (u - a) D / (b - a); going down it is retired at the mirrored time (a - u) D / (a - b).
[[nodiscard]] std::vector<UserChange> user_changes(std::span<const Stage> stages, std::int64_t active_before,
                                                   std::uint32_t thread, std::uint32_t threads);

// Sum of the durations.
[[nodiscard]] Nanos total_duration(std::span<const Stage> stages);

// The stage (index into `stages`) that holds time `at` from the first stage's start; the last one beyond.
[[nodiscard]] std::size_t stage_at(std::span<const Stage> stages, Nanos at);

}  // namespace heddle::plan
