#include "loadgen/report/console.hpp"

#include "loadgen/report/slo.hpp"
#include "loadgen/report/text.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace heddle::report {
namespace {

std::string row(std::string_view name, const record::Distribution& d) {
  return fmt::format("{:<26}{:>12}{:>12}{:>12}{:>12}{:>12}\n", name, quantile_text(quantile(d, 0.5)),
                     quantile_text(quantile(d, 0.9)), quantile_text(quantile(d, 0.99)),
                     quantile_text(quantile(d, 0.999)), quantile_text(largest(d)));
}

std::string errors(const record::Counts& counts) {
  std::string out;
  for (std::size_t i = 1; i < counts.http_errors.size(); ++i) {
    if (counts.http_errors[i] > 0) out += fmt::format("  HTTP {}xx {}", i, counts.http_errors[i]);
  }
  for (std::size_t i = 0; i < record::kTransportErrors; ++i) {
    if (counts.transport[i] == 0) continue;
    out += fmt::format("  {} {}", name_of(static_cast<record::TransportError>(i)), counts.transport[i]);
  }
  if (counts.timeouts > 0) out += fmt::format("  timeouts {}", counts.timeouts);
  return out.empty() ? "  none" : out;
}

std::string connections_line(const record::ConnectionStats& c) {
  std::string out =
      fmt::format("connections  {} of {} opened, {} at most at once", c.opened, c.asked, c.peak);
  if (c.all_open_nanos)
    out += fmt::format(", all open after {:.1f} ms", static_cast<double>(*c.all_open_nanos) / 1e6);
  if (c.lost > 0) out += fmt::format(", {} lost, {} reopened", c.lost, c.reopened);
  for (const auto& [name, count] : c.errors) out += fmt::format(", {} {}", name, count);
  return out + "\n";
}

std::string rate_line(const record::Throughput& t, const record::RunResult& result) {
  std::string out = "rate         ";
  if (t.offered_per_second) out += fmt::format("{:.1f}/s offered, ", *t.offered_per_second);
  out += fmt::format("{:.1f}/s sent, {:.1f}/s ok", t.sent_per_second, t.ok_per_second);
  if (result.littles_law)
    out += fmt::format(", {:.1f} on the wire on average", result.littles_law->mean_in_flight);
  return out + (t.cause.empty() ? "\n" : fmt::format("\n             below the offered rate: {}\n", t.cause));
}

// Each stage's own latencies, since a ramp's summary hides its end.
std::string stage_lines(const record::RunResult& result) {
  std::string out = "\nlatency by stage\n";
  for (const auto& stage : result.stages) {
    if (stage.measured) out += row("  " + stage.name, stage.total().latency);
  }
  return out;
}

std::string why_no_percentile(const record::StageResult& window) {
  const auto total = window.total();
  if (quantile(total.latency, 0.999) || total.latency.size() == 0) return {};
  return fmt::format("(- : fewer than {} requests lie above)\n", record::kSamplesAbove);
}

std::string window_lines(const record::StageResult& window, const record::RunInfo& info) {
  const auto total = window.total();
  const auto& n = total.counts;
  const double seconds = static_cast<double>(window.end_nanos - window.start_nanos) / 1e9;
  const auto rate = [seconds](std::int64_t count) {
    return seconds > 0 ? static_cast<double>(count) / seconds : 0.0;
  };
  std::string out = fmt::format("measured     {:.1f} s: {} planned = {} sent + {} shed + {} never sent\n",
                                seconds, n.planned, n.sent, n.shed, n.unsent);
  out += fmt::format("             {} ok ({:.1f}/s), {} errors, {} without an answer at the end\n", n.ok,
                     rate(n.ok), n.errors(), n.in_flight);
  out += fmt::format("errors     {}\n", errors(n));
  out += fmt::format("transfer     {:.1f} KiB/s sent, {:.1f} KiB/s received\n\n", rate(n.bytes_sent) / 1024,
                     rate(n.bytes_received) / 1024);
  out += fmt::format("{:<26}{:>12}{:>12}{:>12}{:>12}{:>12}\n", "milliseconds", "p50", "p90", "p99", "p99.9",
                     "max");
  out += row("latency (from due)", total.latency);
  out += row("service (from sent)", total.service);
  out += row("first byte (from sent)", total.first_byte);
  if (window.classes.size() < 2) return out;
  for (std::size_t i = 0; i < window.classes.size(); ++i)
    out += row("  " + info.classes[i], window.classes[i].latency);
  return out;
}

}  // namespace

std::string console_report(const record::RunResult& result) {
  std::string out;
  if (result.status != record::Status::complete) {
    out += fmt::format("{}: {}\n", name_of(result.status), result.reason);
  }
  if (result.info.closed_loop) {
    out +=
        "A closed loop: each connection sends when its last answer is there, so a slow server slows the load "
        "down and "
        "its\npauses hide from the latencies. Use -r RATE to see what users would see.\n";
  }
  out += connections_line(result.connections);
  if (result.throughput) out += rate_line(*result.throughput, result);
  if (const auto window = result.window()) {
    out += window_lines(*window, result.info);
    if (std::count(result.info.stage_measured.begin(), result.info.stage_measured.end(), true) > 1) {
      out += stage_lines(result);
    }
    out += why_no_percentile(*window);
  }
  if (const auto slo = slo_table(result.slo); !slo.empty()) out += "\n" + slo;
  out += fmt::format("\nseed         {}\n", result.info.seed);
  out += fmt::format("\ngenerator: {} ({}; {:.1f} s of CPU)\n", name_of(result.generator.verdict),
                     result.generator.reason, result.generator.cpu_seconds);
  if (const auto& ceiling = result.generator.ceiling) {
    out += fmt::format("ceiling: {:.1f} % of {:.0f} requests per second and thread (calibrated {})\n",
                       100 * ceiling->share, ceiling->per_second_per_thread, ceiling->calibrated);
  }
  if (const auto& rows = result.request_rows) {
    out += fmt::format("requests: {} rows in {}, {} dropped\n", rows->written, rows->file, rows->dropped);
  }
  return out;
}

}  // namespace heddle::report
