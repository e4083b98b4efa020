// Service level objectives: "p99=150ms,errors=0.1%,rate=99%", judged over the measure window. No I/O.
#pragma once

#include "loadgen/record/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::record {

enum class SloMeasure : std::uint8_t {
  latency,  // from due
  service,  // from sent
  errors,   // share of the sent requests that ended in an error or had no answer at the end
  rate,     // requests that were ok, as a share of those that were due
  ok_rate,  // requests that were ok, per second of the window
};

struct Objective {
  std::string text;           // as written: "p99=150ms"
  std::string name;           // what stands before the "="
  std::string request_class;  // empty = all requests together
  SloMeasure measure = SloMeasure::latency;
  double quantile = 0;  // latency and service; 1 = the largest value
  double limit = 0;     // ms, % or requests per second
};

// What parse_slo() accepts, for messages and help.
inline constexpr std::string_view kSloAccepted =
    "[REQUEST:]KEY=LIMIT with a comma between two; KEY=LIMIT is p50, p90, p99, p999, max or one of them "
    "after "
    "service- with a time (150ms; us, ms, s), errors=PERCENT%, rate=PERCENT%, or ok-rate=N/s";

// Throws std::invalid_argument "found '...', accepted: ..." for anything else, and for a key given twice.
[[nodiscard]] std::vector<Objective> parse_slo(std::string_view list);

// Throws std::invalid_argument for an objective about a request that is not in `classes`, or about the share
// of a rate where there is none (`rated` is false).
void check_slo(const std::vector<Objective>& objectives, const std::vector<std::string>& classes, bool rated);

// One result per objective, in their order. A value equal to its limit is met. Percentiles need
// `samples_above` samples above them, else the state is unknown. A lower bound (">= x") above the limit is
// missed, below it unknown. When the generator was late or saturated, the reason of what is not met says that
// the server need not be the cause.
[[nodiscard]] std::vector<SloResult> judge_slo(const std::vector<Objective>& objectives,
                                               const RunResult& result,
                                               std::int64_t samples_above = kSamplesAbove);

// True when every one is met, also when there is none.
[[nodiscard]] bool all_met(const std::vector<SloResult>& results);

// The requests that all percentiles of `objectives` need in a run; 0 when there is no percentile.
[[nodiscard]] std::int64_t samples_needed(const std::vector<Objective>& objectives,
                                          std::int64_t samples_above);

}  // namespace heddle::record
