#include "loadgen/commands/run.hpp"

#include "loadgen/calibrate/ceiling_note.hpp"
#include "loadgen/commands/common.hpp"
#include "loadgen/engine/run.hpp"
#include "loadgen/report/console.hpp"
#include "loadgen/report/hlog.hpp"
#include "loadgen/report/load_json.hpp"
#include "loadgen/report/output_file.hpp"
#include "loadgen/report/progress.hpp"
#include "loadgen/report/requests_csv.hpp"
#include "loadgen/report/series.hpp"
#include "loadgen/report/text.hpp"

#include <memory>
#include <stdexcept>
#include <unistd.h>

#include <fmt/format.h>

namespace heddle::load {
namespace {

// Opens every file before the run, so that an unusable folder costs nothing.
// `recorded` is set when there is a row per request.
void add_listeners(report::Fanout& fanout, const Options& options, engine::Setup& setup,
                   report::RequestsCsv*& recorded) try {
  if (!options.out.empty()) {
    std::filesystem::create_directories(options.out);
    // The result of an earlier run must not be taken for this one's, should it not get as far.
    std::filesystem::remove(options.out / "load.json");
    fanout.add(std::make_unique<report::SecondsCsv>(options.out / "load-seconds.csv"));
    fanout.add(std::make_unique<report::HlogWriter>(options.out / "load.hlog"));
  }
  if (!options.record_requests.empty()) {
    if (options.record_requests == "-") throw UsageError("--record-requests: found '-', accepted: a file");
    auto rows = std::make_unique<report::RequestsCsv>(options.record_requests, setup.threads);
    setup.request_log = &rows->log();
    recorded = rows.get();
    fanout.add(std::move(rows));
  }
  if (!options.events.empty()) fanout.add(std::make_unique<report::EventStream>(options.events));
  if (isatty(STDERR_FILENO) != 0) fanout.add(std::make_unique<report::ProgressLine>());
} catch (const std::runtime_error& error) {
  throw UsageError(error.what());
}

// Everything that could not be kept, one line each. What can be written still is.
std::vector<std::string> keep(const Options& options, const report::Fanout& listeners,
                              const std::string& text) {
  std::vector<std::string> lost;
  if (const auto problem = listeners.problem(); !problem.empty()) {
    lost.push_back(problem + "; nothing was written there after that");
  }
  if (options.out.empty()) return lost;
  try {
    report::write_atomically(options.out / "load.json", text);
  } catch (const std::runtime_error& error) {
    lost.push_back(fmt::format("{}; {} holds no result", error.what(), options.out.string()));
  }
  return lost;
}

int exit_code(const record::RunResult& result, bool strict) {
  if (result.status == record::Status::interrupted) return kInterrupted;
  if (result.status == record::Status::failed) return kFailed;
  if (strict && result.generator.verdict != record::Verdict::ok) return kNotMeasurable;
  return record::all_met(result.slo) ? kComplete : kFailed;
}

}  // namespace

int run(const Options& options) {
  Teller teller;
  for (const auto& warning : options.warnings) teller(warning);
  const auto ceiling = ceiling_note(options.plan, options.calibration, this_host());
  teller(ceiling.message);
  auto setup = prepare(options.plan, read_bodies(options.plan), teller);
  report::Fanout listeners;
  report::RequestsCsv* recorded = nullptr;
  add_listeners(listeners, options, setup, recorded);
  auto result = engine::run_load(setup, engine::describe(setup), listeners);
  result.slo = record::judge_slo(options.slo, result);
  teller(conclude_ceiling(ceiling, options.plan, result));
  if (recorded != nullptr) result.request_rows = recorded->rows();
  const auto text = report::pretty(report::load_json(result));
  const auto lost = keep(options, listeners, text);
  for (const auto& problem : lost) tell(problem);
  if (result.status == record::Status::failed) tell(result.reason);
  if (options.json) {
    print(text);
  } else if (options.events != "-") {
    print(report::console_report(result));
  }
  const auto rows = result.request_rows.value_or(record::RequestRows{});
  if (recorded != nullptr && recorded->problem().empty() && rows.dropped > 0) {
    tell(fmt::format("{} has no row for {} requests: they ended faster than rows were written", rows.file,
                     rows.dropped));
  }
  return lost.empty() ? exit_code(result, options.strict) : kFailed;
}

}  // namespace heddle::load
