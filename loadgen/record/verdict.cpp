#include "loadgen/record/verdict.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace heddle::record {

namespace {

// The worst of all stages and threads: many that were on time must not hide one that was late.
std::optional<std::int64_t> worst_lag(const Generator& generator) {
  auto worst = quantile(generator.lag, 0.99, kSamplesForLag);
  const auto take = [&worst](const Histogram& lag) {
    if (const auto found = quantile(lag, 0.99, kSamplesForLag)) worst = std::max(worst.value_or(0), *found);
  };
  for (const auto& lag : generator.stage_lags) take(lag);
  for (const auto& thread : generator.threads) take(thread.lag);
  return worst;
}

}  // namespace

void judge(Generator& generator, const Distribution& service) {
  generator.useful_busy_share = 0;
  generator.cpu_seconds = 0;
  double delayed = 0;
  for (const auto& thread : generator.threads) {
    generator.cpu_seconds += thread.cpu_seconds;
    generator.useful_busy_share =
        std::max({generator.useful_busy_share, thread.useful_share(), thread.worst_useful_share});
    delayed = std::max({delayed, thread.delay_share(), thread.worst_delay_share});
  }
  const auto lag = worst_lag(generator);
  const auto median = quantile(service.answered, 0.5, 1);
  const auto allowed = std::max(
      kLateMicros, static_cast<std::int64_t>(kLateShareOfService * static_cast<double>(median.value_or(0))));
  if (generator.useful_busy_share > kSaturatedBusyShare) {
    generator.verdict = Verdict::saturated;
    generator.reason = fmt::format(
        "the busiest thread had work to do {:.1f} % of the time, over {:.0f} %; a thread waited for a CPU "
        "{:.1f} %",
        100 * generator.useful_busy_share, 100 * kSaturatedBusyShare, 100 * delayed);
  } else if (delayed > kRunDelayShare) {
    generator.verdict = Verdict::late;
    generator.reason = fmt::format(
        "a thread was ready but waited for a CPU {:.1f} % of the time, over {:.0f} %, and read answers late",
        100 * delayed, 100 * kRunDelayShare);
  } else if (lag && *lag > allowed) {
    generator.verdict = Verdict::late;
    generator.reason = fmt::format(
        "1 % of the requests were sent {} us late or more, over {} us; a thread waited for a CPU {:.1f} % of "
        "the time",
        *lag, allowed, 100 * delayed);
  } else if (!lag) {
    generator.verdict = Verdict::ok;
    generator.reason = "too few requests to tell the lateness";
  } else {
    generator.verdict = Verdict::ok;
    generator.reason = fmt::format("99 % of the requests were sent at most {} us late", *lag);
  }
}

}  // namespace heddle::record
