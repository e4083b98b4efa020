#include "loadgen/commands/step_length.hpp"

#include "loadgen/options.hpp"
#include "loadgen/record/percentile.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace heddle::load {
namespace {

// More requests than a percentile needs, since those that end in errors are not in it.
constexpr double kSpareSamples = 1.1;
// The longest step that percentiles may ask for: a search has dozens.
constexpr double kLongestSeconds = 3600;

double seconds_of(plan::Nanos time) {
  return static_cast<double>(time) / plan::kSecond;
}

}  // namespace

double StepLength::samples(std::int64_t samples_above) const {
  return std::ceil(kSpareSamples * static_cast<double>(record::samples_needed(objectives_, samples_above)));
}

double StepLength::seconds_needed(double rate, std::int64_t samples_above) const {
  return samples(samples_above) / rate;
}

plan::Nanos StepLength::at(double rate, std::int64_t samples_above) const {
  // Below this bound a time fits into its integer.
  const double seconds = std::min(seconds_needed(rate, samples_above), kLongestSeconds);
  return std::max(shortest_, static_cast<plan::Nanos>(std::ceil(seconds * plan::kSecond)));
}

void StepLength::check(double from) const {
  const auto needed = samples(record::kSamplesAbove);
  const double seconds = needed / from;
  if (seconds <= kLongestSeconds) return;
  throw UsageError(fmt::format(
      "--from: found {:.6g}, accepted: {:.6g} or more: the percentiles of --slo need {:.0f} requests in each "
      "repeat, which at the lowest rate is {:.1f} hours, over 1",
      from, std::ceil(1000 * needed / kLongestSeconds) / 1000, needed, seconds / 3600));
}

std::string StepLength::text(double from) const {
  auto out = fmt::format("steps of {:.6g} s", seconds_of(shortest_));
  const auto search = samples(record::kSamplesAboveForCharts);
  const auto repeat = samples(record::kSamplesAbove);
  const bool longer = repeat / from > seconds_of(shortest_);
  if (!longer) return out + "\n";
  return out +
         fmt::format(
             ", longer at low rates: the percentiles of --slo need {:.0f} requests while the search goes "
             "on, {:.0f} in a repeat; at {:.6g} requests per second {:.1f} s and {:.1f} s\n",
             search, repeat, from, seconds_of(at(from, record::kSamplesAboveForCharts)),
             seconds_of(at(from, record::kSamplesAbove)));
}

}  // namespace heddle::load
