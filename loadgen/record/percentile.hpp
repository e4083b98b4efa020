// Percentiles that do not lie: none without enough samples above, and "at least" where requests without an
// answer (timeouts, in flight or never sent at the end) could change the value.
#pragma once

#include "loadgen/record/histogram.hpp"

#include <cstdint>
#include <optional>

namespace heddle::record {

// A percentile is told only when this many samples lie above it: the standard error of its rank is then at
// most a tenth of the tail.
inline constexpr std::int64_t kSamplesAbove = 100;
// Charts of one second may use fewer.
inline constexpr std::int64_t kSamplesAboveForCharts = 10;

struct Quantile {
  std::int64_t micros = 0;
  bool at_least = false;  // the true value is this or more
};

// Answered requests and, of those without an answer, the time that they had waited for at least.
struct Distribution {
  Histogram answered;
  Histogram waiting;  // lower bounds

  [[nodiscard]] std::int64_t size() const {
    return answered.count() + answered.overflow() + waiting.count() + waiting.overflow();
  }
  void merge(const Distribution& other);
  void clear();
};

// The q-quantile (0 < q < 1), nearest rank. Empty when fewer than `samples_above` samples lie above it.
[[nodiscard]] std::optional<Quantile> quantile(const Distribution& distribution, double q,
                                               std::int64_t samples_above = kSamplesAbove);
[[nodiscard]] std::optional<std::int64_t> quantile(const Histogram& histogram, double q,
                                                   std::int64_t samples_above = kSamplesAbove);

// Largest value; empty when there is no sample at all.
[[nodiscard]] std::optional<Quantile> largest(const Distribution& distribution);

}  // namespace heddle::record
