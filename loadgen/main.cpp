// heddle-load: reads what to do, runs it, writes what came out.
#include "loadgen/engine/host_check.hpp"
#include "loadgen/engine/run.hpp"
#include "loadgen/http/request.hpp"
#include "loadgen/options.hpp"
#include "loadgen/plan/input_file.hpp"
#include "loadgen/plan/plan_reader.hpp"
#include "loadgen/report/console.hpp"
#include "loadgen/report/hlog.hpp"
#include "loadgen/report/load_json.hpp"
#include "loadgen/report/output_file.hpp"
#include "loadgen/report/series.hpp"
#include "loadgen/report/text.hpp"

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <unistd.h>

#include <fmt/format.h>

namespace {

using namespace heddle;

enum ExitCode : int { kComplete = 0, kFailed = 1, kUsage = 2, kNotMeasurable = 3, kInterrupted = 130 };

std::vector<std::string> read_bodies(const plan::Plan& plan) {
  std::vector<std::string> bodies;
  for (const auto& request : plan.requests) {
    std::string content;
    if (!request.body_file.empty()) {
      content = plan::read_input_file(request.body_file, "the body file");
    }
    bodies.push_back(http::body_to_send(content, request.body_file));
  }
  return bodies;
}

// Opens every file before the run, so that an unusable folder costs nothing.
void add_listeners(report::Fanout& fanout, const load::Options& options) try {
  if (!options.out.empty()) {
    std::filesystem::create_directories(options.out);
    fanout.add(std::make_unique<report::SecondsCsv>(options.out / "load-seconds.csv"));
    fanout.add(std::make_unique<report::HlogWriter>(options.out / "load.hlog"));
  }
  if (!options.events.empty()) fanout.add(std::make_unique<report::EventStream>(options.events));
  if (isatty(STDERR_FILENO) != 0) fanout.add(std::make_unique<report::ProgressLine>());
} catch (const std::runtime_error& error) {
  throw load::UsageError(error.what());
}

int exit_code(const record::RunResult& result, bool strict) {
  if (result.status == record::Status::interrupted) return kInterrupted;
  if (result.status == record::Status::failed) return kFailed;
  return strict && result.generator.verdict != record::Verdict::ok ? kNotMeasurable : kComplete;
}

// Throws std::runtime_error when standard output does not take it.
void print(const std::string& text) {
  report::OutputFile out{"-"};
  out.write(text);
  if (!out.problem().empty()) throw std::runtime_error(out.problem());
}

int run(const load::Options& options) {
  for (const auto& warning : options.warnings) fmt::print(stderr, "heddle-load: {}\n", warning);
  engine::check_cpus(options.plan);
  const auto setup = engine::make_setup(options.plan, read_bodies(options.plan));
  engine::check_sockets(setup);
  engine::ensure_descriptors(setup);
  report::Fanout listeners;
  add_listeners(listeners, options);
  const auto result = engine::run_load(setup, engine::describe(setup), listeners);
  const auto text = report::pretty(report::load_json(result));
  if (!options.out.empty()) report::write_atomically(options.out / "load.json", text);
  if (result.status == record::Status::failed) fmt::print(stderr, "heddle-load: {}\n", result.reason);
  if (const auto problem = listeners.problem(); !problem.empty()) throw std::runtime_error(problem);
  if (options.json) {
    print(text);
  } else if (options.events != "-") {
    print(report::console_report(result));
  }
  return exit_code(result, options.strict);
}

int usage(const std::exception& error) {
  fmt::print(stderr, "heddle-load: {}\n", error.what());
  return kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  engine::block_stop_signals();
  try {
    const auto options = load::parse_options(argc, argv);
    if (options.help) {
      print(load::help_text());
      return kComplete;
    }
    if (options.version) {
      print(fmt::format("heddle-load {}\n", HEDDLE_VERSION));
      return kComplete;
    }
    return run(options);
  } catch (const load::UsageError& error) {
    return usage(error);
  } catch (const plan::PlanError& error) {
    return usage(error);
  } catch (const std::invalid_argument& error) {
    return usage(error);
  } catch (const engine::NotMeasurable& error) {
    fmt::print(stderr, "heddle-load: {}\n", error.what());
    return kNotMeasurable;
  } catch (const std::exception& error) {
    fmt::print(stderr, "heddle-load: {}\n", error.what());
    return kFailed;
  }
}
