#include "loadgen/commands/find_max.hpp"

#include "loadgen/calibrate/ceiling_note.hpp"
#include "loadgen/commands/common.hpp"
#include "loadgen/commands/search_report.hpp"
#include "loadgen/commands/step_length.hpp"
#include "loadgen/engine/clock.hpp"
#include "loadgen/engine/run.hpp"
#include "loadgen/report/load_json.hpp"
#include "loadgen/report/progress.hpp"
#include "loadgen/report/series.hpp"
#include "loadgen/report/text.hpp"

#include <csignal>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <unistd.h>

#include <fmt/format.h>

namespace heddle::load {
namespace {

// Waits, less when SIGINT or SIGTERM comes (both are blocked): then its name, else nothing.
std::string pause_or_signal(plan::Nanos time) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  const timespec limit = engine::as_timespec(time);
  const int signal = sigtimedwait(&signals, nullptr, &limit);
  if (signal < 0) return {};
  return signal == SIGINT ? "SIGINT" : "SIGTERM";
}

void set_rate(plan::Plan& plan, double rate, plan::Nanos duration) {
  for (auto& stage : plan.stages) {
    if (std::holds_alternative<plan::Poisson>(stage.arrivals)) {
      stage.arrivals = plan::Poisson{rate};
    } else {
      stage.arrivals = plan::ConstantRate{rate};
    }
    if (stage.kind == plan::StageKind::measure) stage.duration = duration;
  }
}

class FindMax {
 public:
  explicit FindMax(const Options& options)
      : options_{options},
        bodies_{read_bodies(options.plan)},
        length_{options.slo, options.search.step_time},
        search_{{options.search.from, options.search.to, options.search.precision, options.search.repeats}} {}

  int execute() {
    length_.check(options_.search.from);
    prepare_folder();
    if (!options_.json) print(length_.text(options_.search.from) + step_heading());
    while (const auto step = search_.next()) {
      if (!report_.steps.empty()) {
        const auto signal = pause_or_signal(options_.search.pause);
        if (!signal.empty()) stop(record::Status::interrupted, signal);
      }
      if (!report_.reason.empty() || !run_step(*step)) break;
      keep();
    }
    report_.running = false;
    if (report_.status == record::Status::complete && !report_.result.rate) explain();
    keep();
    if (options_.json) {
      print(report::pretty(search_json(report_, options_)));
    } else {
      print(search_text(report_, options_));
    }
    return exit_code();
  }

 private:
  // Finds a folder that cannot be written before anything is sent.
  void prepare_folder() const {
    if (options_.out.empty()) return;
    try {
      std::filesystem::create_directories(options_.out);
      report::write_atomically(options_.out / "find-max.json",
                               report::pretty(search_json(report_, options_)));
    } catch (const std::runtime_error& error) {
      throw UsageError(error.what());
    }
  }

  // False when the search must not go on.
  bool run_step(const Step& step) {
    const auto above = step.confirms ? record::kSamplesAbove : record::kSamplesAboveForCharts;
    auto plan = options_.plan;
    set_rate(plan, step.rate, length_.at(step.rate, above));
    const auto ceiling = ceiling_note(plan, options_.calibration, host_);
    // A step's line tells its share.
    if (!ceiling.ceiling) teller_(ceiling.message);
    const auto setup = prepare(plan, bodies_, teller_);
    report::Fanout listeners;
    if (isatty(STDERR_FILENO) != 0) listeners.add(std::make_unique<report::ProgressLine>());
    auto result = engine::run_load(setup, engine::describe(setup), listeners);
    result.slo = record::judge_slo(options_.slo, result, above);
    (void)conclude_ceiling(ceiling, plan, result);  // a rate's share is known before
    keep_step(result);
    auto report = report_of(step, above, options_.strict, result);
    if (result.status == record::Status::interrupted) {
      stop(result.status, result.reason);
      return false;
    }
    // Neither says what the server can do: it is not there, or it did answer and the run itself went wrong.
    const auto window = result.window();
    const bool unreachable = result.connections.opened == 0;
    if (result.status == record::Status::failed &&
        (unreachable || (window && window->total().counts.ok > 0))) {
      stop(result.status, result.reason);
      return false;
    }
    search_.record(report.verdict);
    report_.steps.push_back(std::move(report));
    report_.result = search_.result();
    if (!options_.json) print(step_line(report_.steps.back(), report_.steps.size()));
    return true;
  }

  void stop(record::Status status, const std::string& reason) {
    report_.status = status;
    report_.reason = reason;
  }

  // A complete search without a rate has failed.
  void explain() {
    const auto& last = report_.steps.back();
    report_.status = record::Status::failed;
    report_.reason = report_.result.bounded_by == BoundedBy::generator
                         ? "the generator was the limit before a rate was confirmed"
                         : fmt::format("no rate was confirmed; at {:.6g} requests per second: {}",
                                       last.step.rate, last.reason);
  }

  void keep_step(const record::RunResult& result) {
    if (options_.out.empty()) return;
    write(options_.out / fmt::format("step-{:02}.json", report_.steps.size() + 1),
          report::pretty(report::load_json(result)));
  }
  void keep() {
    if (options_.out.empty()) return;
    write(options_.out / "find-max.json", report::pretty(search_json(report_, options_)));
  }
  // The search goes on when the disk is full: its result is on the console, too.
  void write(const std::filesystem::path& file, const std::string& text) {
    try {
      report::write_atomically(file, text);
    } catch (const std::runtime_error& error) {
      if (!lost_) tell(error.what());
      lost_ = true;
    }
  }

  [[nodiscard]] int exit_code() const {
    if (lost_) return kFailed;
    if (report_.status == record::Status::interrupted) return kInterrupted;
    if (report_.result.bounded_by == BoundedBy::generator) return kNotMeasurable;
    return report_.status == record::Status::complete ? kComplete : kFailed;
  }

  const Options& options_;
  std::vector<std::string> bodies_;
  StepLength length_;
  HostId host_ = this_host();
  Teller teller_;
  RateSearch search_;
  SearchReport report_;
  bool lost_ = false;
};

}  // namespace

int find_max(const Options& options) {
  return FindMax{options}.execute();
}

}  // namespace heddle::load
