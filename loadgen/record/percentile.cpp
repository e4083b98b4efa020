#include "loadgen/record/percentile.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::record {
namespace {

// Within one bucket of the histogram two values are the same measurement.
constexpr double kSameValue = 1.0 + 1.0 / Histogram::kHalf;

// Nearest rank, guarded against 0.99 x 100 = 99.00000000000001.
std::int64_t rank_of(double q, std::int64_t size) {
  constexpr double slack = 1e-9;
  const auto rank =
      static_cast<std::int64_t>(std::ceil(q * static_cast<double>(size) - slack * static_cast<double>(size)));
  return std::clamp<std::int64_t>(rank, 1, size);
}

// The value of a rank when those without an answer end exactly at their bound: a lower limit of the truth.
std::int64_t lowest_value(const Distribution& d, std::int64_t rank) {
  Histogram merged = d.answered;
  merged.merge(d.waiting);
  return rank <= merged.count() ? merged.value_at_rank(rank) : Histogram::kHighestMicros;
}

}  // namespace

void Distribution::merge(const Distribution& other) {
  answered.merge(other.answered);
  waiting.merge(other.waiting);
}

void Distribution::clear() {
  answered.clear();
  waiting.clear();
}

std::optional<Quantile> quantile(const Distribution& d, double q, std::int64_t samples_above) {
  const auto size = d.size();
  if (size == 0) return std::nullopt;
  const auto rank = rank_of(q, size);
  if (size - rank < samples_above) return std::nullopt;
  if (d.waiting.empty() && d.answered.overflow() == 0) return Quantile{d.answered.value_at_rank(rank), false};
  const auto low = lowest_value(d, rank);
  // The upper limit: those without an answer would have taken for ever.
  if (rank > d.answered.count()) return Quantile{low, true};
  const auto high = d.answered.value_at_rank(rank);
  if (static_cast<double>(high) <= static_cast<double>(low) * kSameValue) return Quantile{high, false};
  return Quantile{low, true};
}

std::optional<std::int64_t> quantile(const Histogram& histogram, double q, std::int64_t samples_above) {
  const auto size = histogram.count() + histogram.overflow();
  if (size == 0) return std::nullopt;
  const auto rank = rank_of(q, size);
  if (size - rank < samples_above) return std::nullopt;
  return rank <= histogram.count() ? histogram.value_at_rank(rank) : Histogram::kHighestMicros;
}

std::optional<Quantile> largest(const Distribution& d) {
  if (d.size() == 0) return std::nullopt;
  if (d.answered.overflow() > 0 || d.waiting.overflow() > 0) return Quantile{Histogram::kHighestMicros, true};
  if (d.waiting.empty()) return Quantile{d.answered.max(), false};
  return Quantile{std::max(d.answered.max(), d.waiting.max()), true};
}

}  // namespace heddle::record
