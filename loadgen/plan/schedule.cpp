#include "loadgen/plan/schedule.hpp"

#include "loadgen/plan/draw.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::plan {
namespace {

// 64 bits of mantissa on x86-64: k x 10^9 is exact for every count that the accepted ranges allow.
using Real = long double;

constexpr Real kNanosPerSecond = 1e9L;
// 0.3 per second over 10 s is 3 requests although the double nearest to 0.3 lies below it, by at most 2^-53
// of its value. Some of these, and far too little for one more request at the highest rate over the longest
// time (6 x 10^12).
constexpr Real kRoundingSlack = 1e-15L;
constexpr std::uint64_t kPoissonStream = 4ULL << 56;

std::int64_t floor_of(Real value) {
  return static_cast<std::int64_t>(std::floor(value * (1 + kRoundingSlack)));
}

Nanos nearest(Real value) {
  return static_cast<Nanos>(std::llround(value));
}

Real seconds(Nanos nanos) {
  return static_cast<Real>(nanos) / kNanosPerSecond;
}

// Solves from t + (to - from) t^2 / (2 D) = k for t, in the form that stays exact when from = to.
Real ramp_time(const RateRamp& ramp, Real duration, Real k) {
  if (k <= 0) return 0;
  const Real a = ramp.from;
  const Real slope = (static_cast<Real>(ramp.to) - a) / duration;
  const Real root = std::sqrt(std::max<Real>(0, a * a + 2 * slope * k));
  return std::min(duration, 2 * k / (a + root));
}

void append_range(std::vector<UserChange>& out, std::int64_t from, std::int64_t to, Nanos offset,
                  Nanos duration, std::uint32_t thread, std::uint32_t threads) {
  if (from == to) return;
  const Real step = static_cast<Real>(duration) / static_cast<Real>(std::abs(to - from));
  const bool jump = duration == 0;
  if (to > from) {
    for (auto user = from; user < to; ++user) {
      if (user % threads != thread) continue;
      out.push_back({offset + nearest(static_cast<Real>(user - from) * step), user, true, jump});
    }
  } else {
    for (auto user = from - 1; user >= to; --user) {
      if (user % threads != thread) continue;
      out.push_back({offset + nearest(static_cast<Real>(from - user) * step), user, false, jump});
    }
  }
}

}  // namespace

std::int64_t arrival_count(const Stage& stage) {
  const Real duration = seconds(stage.duration);
  if (const auto* rate = std::get_if<ConstantRate>(&stage.arrivals))
    return floor_of(rate->per_second * duration);
  if (const auto* ramp = std::get_if<RateRamp>(&stage.arrivals)) {
    return floor_of((static_cast<Real>(ramp->from) + ramp->to) / 2 * duration);
  }
  return 0;
}

Nanos arrival_due(const Stage& stage, std::int64_t k) {
  const Real number = static_cast<Real>(k);
  if (const auto* rate = std::get_if<ConstantRate>(&stage.arrivals)) {
    return nearest(number * kNanosPerSecond / rate->per_second);
  }
  if (const auto* ramp = std::get_if<RateRamp>(&stage.arrivals)) {
    return nearest(ramp_time(*ramp, seconds(stage.duration), number) * kNanosPerSecond);
  }
  return 0;
}

ArrivalCursor::ArrivalCursor(std::span<const Stage> stages, std::uint32_t first_stage, std::uint64_t seed,
                             std::uint32_t thread, std::uint32_t threads)
    : stages_{stages}, first_stage_{first_stage}, seed_{seed}, thread_{thread}, threads_{threads} {
  enter_stage();
  settle();
}

void ArrivalCursor::enter_stage() {
  k_ = thread_;
  poisson_sum_ = 0;
  poisson_next_ = 0;
  count_ = stage_ < stages_.size() ? arrival_count(stages_[stage_]) : 0;
}

// Sum of the first k + 1 exponential gaps. Every thread walks all gaps and keeps its own.
Nanos ArrivalCursor::due_of(std::int64_t k) {
  const auto* poisson = std::get_if<Poisson>(&stages_[stage_].arrivals);
  if (poisson == nullptr) return arrival_due(stages_[stage_], k);
  for (; poisson_next_ <= k; ++poisson_next_) {
    const auto bits =
        draw(seed_, kPoissonStream + first_stage_ + stage_, static_cast<std::uint64_t>(poisson_next_));
    poisson_sum_ += exponential(bits) / poisson->per_second;
  }
  return nearest(static_cast<Real>(poisson_sum_) * kNanosPerSecond);
}

void ArrivalCursor::settle() {
  while (stage_ < stages_.size()) {
    const auto& stage = stages_[stage_];
    const bool poisson = std::holds_alternative<Poisson>(stage.arrivals);
    if (poisson || k_ < count_) {
      const Nanos due = due_of(k_);
      if (!poisson || due < stage.duration) {
        next_ = Arrival{offset_ + due, first_stage_ + static_cast<std::uint32_t>(stage_),
                        static_cast<std::uint64_t>(k_)};
        return;
      }
    }
    offset_ += stage.duration;
    ++stage_;
    enter_stage();
  }
  next_.reset();
}

void ArrivalCursor::advance() {
  k_ += threads_;
  settle();
}

std::vector<UserChange> user_changes(std::span<const Stage> stages, std::int64_t active_before,
                                     std::uint32_t thread, std::uint32_t threads) {
  std::vector<UserChange> changes;
  std::int64_t active = active_before;
  Nanos offset = 0;
  for (const auto& stage : stages) {
    const auto [from, to] = user_range(stage);
    append_range(changes, active, from, offset, 0, thread, threads);
    append_range(changes, from, to, offset, stage.duration, thread, threads);
    active = to;
    offset += stage.duration;
  }
  return changes;
}

Nanos total_duration(std::span<const Stage> stages) {
  Nanos total = 0;
  for (const auto& stage : stages) total += stage.duration;
  return total;
}

std::size_t stage_at(std::span<const Stage> stages, Nanos at) {
  Nanos end = 0;
  for (std::size_t i = 0; i + 1 < stages.size(); ++i) {
    end += stages[i].duration;
    if (at < end) return i;
  }
  return stages.empty() ? 0 : stages.size() - 1;
}

}  // namespace heddle::plan
