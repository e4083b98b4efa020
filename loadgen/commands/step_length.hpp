// How long the steps of find-max last, and why.
#pragma once

#include "loadgen/plan/plan.hpp"
#include "loadgen/record/slo.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::load {

class StepLength {
 public:
  // `shortest`: --step-time. The percentiles of `objectives` may need more.
  StepLength(const std::vector<record::Objective>& objectives, plan::Nanos shortest)
      : objectives_{objectives}, shortest_{shortest} {}

  // Of a step at `rate` (requests per second, above 0) that needs `samples_above` requests above each
  // percentile.
  [[nodiscard]] plan::Nanos at(double rate, std::int64_t samples_above) const;

  // Throws UsageError when the repeats at `from`, the lowest rate, would need more than an hour each.
  void check(double from) const;

  // For people, one line: how long, and why longer at low rates.
  [[nodiscard]] std::string text(double from) const;

 private:
  [[nodiscard]] double samples(std::int64_t samples_above) const;
  [[nodiscard]] double seconds_needed(double rate, std::int64_t samples_above) const;

  const std::vector<record::Objective>& objectives_;
  plan::Nanos shortest_;
};

}  // namespace heddle::load
