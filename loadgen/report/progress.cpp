#include "loadgen/report/progress.hpp"

#include "loadgen/report/second.hpp"
#include "loadgen/report/text.hpp"

#include <cmath>
#include <cstdio>

#include <fmt/format.h>

namespace heddle::report {
namespace {

std::string shown(const record::Distribution& latency, double q) {
  const auto value = quantile(latency, q, record::kSamplesAboveForCharts);
  return value ? quantile_text(value, 1) + " ms" : quantile_text(value);
}

}  // namespace

std::string progress_text(const record::Second& second, const record::RunInfo& info) {
  const auto all = whole(second, info);
  const double seconds = static_cast<double>(second.end_nanos - second.start_nanos) / 1e9;
  const auto elapsed =
      std::llround(static_cast<double>(second.end_nanos - info.anchor.monotonic_nanos) / 1e9);
  const auto& n = all.counts;
  auto out = fmt::format("{} s  {}  {:.0f} ok/s", elapsed, info.stages[second.stage],
                         static_cast<double>(n.ok) / seconds);
  // Users send as the answers allow: nothing is offered.
  if (!info.users) out += fmt::format(" of {:.0f}", static_cast<double>(n.planned) / seconds);
  out += fmt::format("  p50 {}  p99 {}  errors {}  in flight {}", shown(all.latency, 0.5),
                     shown(all.latency, 0.99), n.errors(), n.in_flight);
  if (const auto lag = quantile(second.data->lag, 0.99, record::kSamplesAboveForCharts)) {
    out += fmt::format("  late p99 {} us", *lag);
  }
  return out;
}

void ProgressLine::second(const record::Second& second) {
  if (too_short_to_show(second)) return;
  report::to_stderr(fmt::format("\r{}\033[K", progress_text(second, info_)));
}

void ProgressLine::done(const record::RunResult&) {
  report::to_stderr("\r\033[K");
}

}  // namespace heddle::report
