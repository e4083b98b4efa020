#include "loadgen/report/progress.hpp"

#include <cmath>
#include <cstdio>

#include <fmt/format.h>

namespace heddle::report {
namespace {

// Between two phases there are intervals of some milliseconds: rates over them would jump.
constexpr std::int64_t kShortest = 500'000'000;

// All stages and request types of one second.
record::Cell whole(const record::Second& second, const record::RunInfo& info) {
  record::Cell sum;
  for (std::size_t s = 0; s < info.stages.size(); ++s) {
    for (std::size_t c = 0; c < info.classes.size(); ++c) {
      const auto* cell = second.data->find(s, c);
      if (cell == nullptr) continue;
      sum.merge(*cell);
      sum.counts.in_flight += cell->counts.in_flight;
    }
  }
  return sum;
}

std::string shown(const std::optional<record::Quantile>& quantile) {
  if (!quantile) return "-";
  return fmt::format("{}{:.1f} ms", quantile->at_least ? ">=" : "",
                     static_cast<double>(quantile->micros) / 1000);
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
  out += fmt::format("  p50 {}  p99 {}  errors {}  in flight {}",
                     shown(quantile(all.latency, 0.5, record::kSamplesAboveForCharts)),
                     shown(quantile(all.latency, 0.99, record::kSamplesAboveForCharts)), n.errors(),
                     n.in_flight);
  if (const auto lag = quantile(second.data->lag, 0.99, record::kSamplesAboveForCharts)) {
    out += fmt::format("  late p99 {} us", *lag);
  }
  return out;
}

void ProgressLine::second(const record::Second& second) {
  if (second.end_nanos - second.start_nanos < kShortest) return;
  fmt::print(stderr, "\r{}\033[K", progress_text(second, info_));
  std::fflush(stderr);
}

void ProgressLine::done(const record::RunResult&) {
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

}  // namespace heddle::report
