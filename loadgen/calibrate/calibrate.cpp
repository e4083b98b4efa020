#include "loadgen/calibrate/calibrate.hpp"

#include "host-tuning/cpus.hpp"
#include "loadgen/calibrate/ceiling_file.hpp"
#include "loadgen/exit_code.hpp"
#include "loadgen/report/output_file.hpp"
#include "loadgen/report/text.hpp"

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <unistd.h>

#include <fmt/format.h>

namespace heddle::load {
namespace {

// From here on the ceiling is the generator's; below, something else ended first.
constexpr double kFullyBusy = 0.9;

std::string spread_text(const Spread& s, double factor, int decimals) {
  return fmt::format("{:.{}f} ({:.{}f}..{:.{}f})", s.median * factor, decimals, s.low * factor, decimals,
                     s.high * factor, decimals);
}

std::string optional_text(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : "-";
}

std::string header(const Calibration& c) {
  std::string out =
      fmt::format("host         {}, {} CPUs, Linux {}\n", c.host.cpu_model, c.host.cpus, c.host.kernel);
  out += fmt::format("calibrated   {} engine thread{} on CPU {}, a null server for each on CPU {}{}\n",
                     c.threads, c.threads == 1 ? "" : "s", host::format_cpu_list(c.thread_cpus),
                     host::format_cpu_list(c.server_cpus), c.quick ? ", quick" : "");
  if (c.shared_cpus) {
    out +=
        "             They share the CPUs: with the service elsewhere the ceiling is higher and requests "
        "are\n"
        "             less late.\n";
  }
  if (c.run_delay_share > kDisturbed) {
    out += fmt::format(
        "             Something else ran here: an engine thread waited for its CPU {:.0f} % of the time. "
        "Repeat "
        "it\n             on a quiet host.\n",
        100 * c.run_delay_share);
  }
  return out;
}

std::string ceiling_lines(const Calibration& c) {
  std::string out =
      fmt::format("\nceiling (closed loop), median (min..max)\n{:>12}{:>30}{:>24}{:>20}\n", "connections",
                  "requests/s and thread", "CPU us per request", "useful busy %");
  bool server_was_limit = false;
  for (const auto& point : c.ceiling) {
    out += fmt::format("{:>12}{:>30}{:>24}{:>20}\n", point.connections * c.threads,
                       spread_text(point.per_second, 1, 0), spread_text(point.cpu_micros, 1, 2),
                       spread_text(point.busy_share, 100, 0));
    server_was_limit = server_was_limit || point.busy_share.median < kFullyBusy;
  }
  if (server_was_limit) {
    out +=
        "Where a thread was not fully busy the null server ended first: the thread's own ceiling is "
        "higher.\n";
  }
  return out;
}

std::string pacing_lines(const Calibration& c) {
  std::string out = fmt::format("\npacing, send lateness in us\n{:>12}{:>12}{:>10}{:>10}{:>10}\n",
                                "connections", "requests/s", "p50", "p99", "max");
  for (const auto& point : c.pacing) {
    out += fmt::format("{:>12}{:>12.0f}", point.connections, point.per_second);
    if (point.skipped.empty()) {
      out += fmt::format("{:>10}{:>10}{:>10}\n", optional_text(point.p50), optional_text(point.p99),
                         optional_text(point.max));
    } else {
      out += fmt::format("  not measured: {}\n", point.skipped);
    }
  }
  return out;
}

std::string millis_text(const std::optional<double>& value, std::int64_t unanswered) {
  return value ? fmt::format("{:.1f} ms", *value)
               : fmt::format("nothing, {} requests had no answer at the end", unanswered);
}

std::string stall_lines(const StallCheck& s) {
  const auto verdict = [](bool passed) { return passed ? "ok    " : "FAILED"; };
  std::string out = fmt::format(
      "\nthe server stood still for {:.1f} ms ({:.0f} requests/s for {:.1f} s on {} connections), p99\n",
      s.stall_millis, s.per_second, s.window_seconds, s.connections);
  out += fmt::format("  {} latency from due shows the stall: expected {:.1f} ms +- {:.1f}, measured {}\n",
                     verdict(s.due_passed()), s.expected_due_millis, s.tolerance_millis,
                     millis_text(s.due_millis, s.unanswered));
  out += fmt::format("  {} service time from sent does not: expected at most {:.1f} ms, measured {}\n",
                     verdict(s.sent_passed()), s.most_sent_millis, millis_text(s.sent_millis, s.unanswered));
  return out;
}

// Says on a terminal what goes on; a log needs no such lines.
void show_progress(const std::string& what) {
  if (isatty(STDERR_FILENO) == 0) return;
  report::to_stderr(fmt::format("\r{}\033[K", what));
}

Calibration measure(const CalibrateOptions& options) {
  auto how = options.measure;
  if (options.quick) how.sizes = quick_steps();
  how.progress = show_progress;
  auto result = measure_host(how);
  show_progress("");
  const auto epoch = std::chrono::system_clock::now().time_since_epoch();
  result.utc = report::utc(std::chrono::duration_cast<std::chrono::milliseconds>(epoch).count());
  result.version = options.version;
  result.quick = options.quick;
  return result;
}

}  // namespace

std::string calibration_report(const Calibration& calibration) {
  return header(calibration) + ceiling_lines(calibration) + pacing_lines(calibration) +
         stall_lines(calibration.stall);
}

int calibrate(const CalibrateOptions& options) {
  const auto file = options.file.empty() ? default_calibration_file() : options.file;
  if (file.empty()) {
    throw std::invalid_argument(
        "no place for the calibration: neither XDG_STATE_HOME nor HOME is set; name a file "
        "with --calibration");
  }
  check_writable(file);
  Calibration result;
  try {
    result = measure(options);
  } catch (const Interrupted& signal) {
    report::to_stderr(fmt::format("heddle-load: interrupted ({}), nothing was stored\n", signal.what()));
    return kInterrupted;
  }
  write_calibration(result, file);
  report::OutputFile out{"-"};
  out.write(options.json ? report::pretty(calibration_json(result))
                         : calibration_report(result) + fmt::format("\nstored in {}\n", file.string()));
  if (!out.problem().empty()) throw std::runtime_error(out.problem());
  return result.stall.due_passed() && result.stall.sent_passed() ? kComplete : kFailed;
}

}  // namespace heddle::load
