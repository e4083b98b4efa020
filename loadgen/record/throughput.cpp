#include "loadgen/record/throughput.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace heddle::record {
namespace {

double in_seconds(std::int64_t micros) {
  return static_cast<double>(micros) * 1e-6;
}

// By Little's law: so many connections carry `rate` at the time on the wire that was seen.
std::string too_few_connections(const RunResult& result, double offered, double sent) {
  const double on_wire = sent > 0 ? result.littles_law->mean_in_flight / sent : 0;
  return fmt::format(
      "too few connections: {} are open, {:.0f} would be needed at {:.0f}/s and {:.1f} ms per request",
      result.connections.peak, std::ceil(offered * on_wire), offered, 1000 * on_wire);
}

std::string cause_of(const RunResult& result, const Cell& total, double offered, double sent) {
  const auto& n = total.counts;
  if (result.status == Status::interrupted) return "interrupted";
  const auto& connections = result.connections;
  if (!connections.errors.empty() && n.unsent + n.shed > 0) {
    std::string attempts;
    for (const auto& [name, count] : connections.errors) attempts += fmt::format(", {} {}", name, count);
    return fmt::format("connections: {} lost, failed attempts to open one{}; {} requests found none",
                       connections.lost, attempts, n.unsent + n.shed);
  }
  if (result.generator.verdict != Verdict::ok) {
    return fmt::format("the generator: {}", result.generator.reason);
  }
  if (n.errors() > 0 && static_cast<double>(n.errors()) >= (1 - kRateMet) * static_cast<double>(n.planned)) {
    return fmt::format("errors: {} of {} requests", n.errors(), n.planned);
  }
  if (result.connections.peak < result.connections.asked) {
    return fmt::format("{} of {} connections could be opened", result.connections.peak,
                       result.connections.asked);
  }
  const bool full = result.littles_law && result.littles_law->mean_in_flight >=
                                              kConnectionsFull * static_cast<double>(result.connections.peak);
  if (full) return too_few_connections(result, offered, sent);
  if (n.shed > 0) {
    return fmt::format("too few connections: {} requests found none of {} free and were shed", n.shed,
                       connections.peak);
  }
  return fmt::format("the server: {} requests were answered after the end, {} not at all, {} were never sent",
                     n.ok - n.ok_in_time, n.in_flight, n.unsent);
}

}  // namespace

LittlesLaw littles_law(const Generator& generator, const Cell& window) {
  LittlesLaw law;
  for (const auto& thread : generator.threads) {
    if (thread.window_seconds > 0) law.mean_in_flight += thread.in_flight_seconds / thread.window_seconds;
    law.counted_seconds += thread.total_in_flight_seconds;
  }
  law.recorded_seconds =
      in_seconds(window.service.answered.sum() + window.service.waiting.sum() + window.counts.failed_micros);
  return law;
}

std::string lost_time(const LittlesLaw& law, const Cell& window) {
  if (window.service.answered.overflow() + window.service.waiting.overflow() > 0) return {};
  const double allowed =
      kLawTolerance * law.counted_seconds + kLawTolerancePerRequest * static_cast<double>(window.counts.sent);
  if (std::abs(law.counted_seconds - law.recorded_seconds) <= allowed) return {};
  return fmt::format(
      "Little's law does not hold: requests were on the wire for {:.3f} s by their number over time, for "
      "{:.3f} s by their recorded times",
      law.counted_seconds, law.recorded_seconds);
}

double answer_seconds(std::span<const Cell> classes, double seconds) {
  double planned = 0;
  double before_first = 0;
  for (const auto& cell : classes) {
    const auto count = static_cast<double>(cell.counts.planned);
    const auto quick = quantile(cell.latency.answered, 0.1, 0);
    planned += count;
    before_first += count * std::min(seconds, quick ? in_seconds(*quick) : 0.0);
  }
  const double left = planned > 0 ? seconds - before_first / planned : seconds;
  return left > 0 ? left : seconds;
}

std::optional<double> served_share(std::span<const Cell> classes, double seconds) {
  double planned = 0;
  double ok = 0;
  double ok_in_time = 0;
  for (const auto& cell : classes) {
    planned += static_cast<double>(cell.counts.planned);
    ok += static_cast<double>(cell.counts.ok);
    ok_in_time += static_cast<double>(cell.counts.ok_in_time);
  }
  if (planned <= 0 || seconds <= 0) return std::nullopt;
  const double noise = std::min(ok - ok_in_time, 2 * std::sqrt(planned));
  const double expected = planned * answer_seconds(classes, seconds) / seconds;
  return std::min(1.0, (ok_in_time + noise) / expected);
}

Throughput throughput(const RunResult& result, const StageResult& window, const Cell& total) {
  Throughput out;
  const double length = static_cast<double>(window.end_nanos - window.start_nanos) * 1e-9;
  if (length <= 0) return out;
  const auto& n = total.counts;
  out.sent_per_second = static_cast<double>(n.sent) / length;
  out.ok_per_second = static_cast<double>(n.ok_in_time) / answer_seconds(window.classes, length);
  if (result.info.users) return out;
  const double offered = static_cast<double>(n.planned) / length;
  out.offered_per_second = offered;
  if (served_share(window.classes, length).value_or(1) < kRateMet) {
    out.cause = cause_of(result, total, offered, out.sent_per_second);
  }
  return out;
}

}  // namespace heddle::record
