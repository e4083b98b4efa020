#include "loadgen/report/console.hpp"

#include <array>

#include <fmt/format.h>

namespace heddle::report {
namespace {

std::string shown(const std::optional<record::Quantile>& quantile) {
  if (!quantile) return "-";
  return fmt::format("{}{:.3f}", quantile->at_least ? ">=" : "",
                     static_cast<double>(quantile->micros) / 1000);
}

std::string row(std::string_view name, const record::Distribution& d) {
  return fmt::format("{:<26}{:>12}{:>12}{:>12}{:>12}{:>12}\n", name, shown(quantile(d, 0.5)),
                     shown(quantile(d, 0.9)), shown(quantile(d, 0.99)), shown(quantile(d, 0.999)),
                     shown(largest(d)));
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
  if (const auto window = result.window()) out += window_lines(*window, result.info);
  out += fmt::format("\ngenerator: {} ({}; {:.1f} s of CPU)\n", name_of(result.generator.verdict),
                     result.generator.reason, result.generator.cpu_seconds);
  return out;
}

}  // namespace heddle::report
