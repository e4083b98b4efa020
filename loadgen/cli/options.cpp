#include "loadgen/options.hpp"

#include "loadgen/cli/arguments.hpp"
#include "loadgen/cli/plan_of.hpp"
#include "loadgen/cli/values.hpp"
#include "loadgen/plan/plan_reader.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>

namespace heddle::load {
namespace {

std::filesystem::path path_of(const Arguments& arguments, std::string_view option,
                              std::string_view accepted) {
  auto text = arguments.text(option, "");
  if (arguments.has(option) && text.empty()) refuse(option, "", accepted);
  return text;
}

void read_output(const Arguments& arguments, Options& options) {
  options.json = arguments.has("json");
  options.strict = arguments.has("strict");
  options.out = path_of(arguments, "out", "a folder");
  options.events = path_of(arguments, "events", "a file or -");
  options.record_requests = path_of(arguments, "record-requests", "a file");
  options.calibration = path_of(arguments, "calibration", "a file");
  options.quick = arguments.has("quick");
  if (options.json && options.events == "-") throw UsageError("--json: not together with --events -");
}

void read_search(const Arguments& arguments, Options& options) {
  auto& search = options.search;
  constexpr double finest = 0.5;
  constexpr double coarsest = 50;
  search.from = arguments.number("from", plan::kMinRate, plan::kMaxRate, search.from);
  search.to = arguments.number("to", search.from, plan::kMaxRate, std::max(search.to, search.from));
  search.precision = arguments.number("precision", finest, coarsest, 100 * search.precision) / 100;
  search.repeats = static_cast<int>(arguments.integer("repeats", 1, 100, search.repeats));
  search.pause = arguments.duration("pause", "1s");
  search.warmup = arguments.duration("warmup", "1s");
  search.step_time = arguments.duration("step-time", "5s");
}

// The plan's objectives and those of the command line, as one list.
void read_slo(const Arguments& arguments, Options& options) {
  std::vector<std::pair<std::string, std::string>> lists;  // where it stands, and the list
  for (std::size_t i = 0; i < options.plan.slo.size(); ++i) {
    lists.emplace_back(fmt::format("plan: slo[{}]", i), options.plan.slo[i]);
  }
  for (const auto& list : arguments.all("slo")) lists.emplace_back("--slo", list);
  std::vector<std::string> classes;
  for (const auto& request : options.plan.requests) classes.push_back(request.name);
  for (const auto& [where, list] : lists) {
    try {
      const auto objectives = record::parse_slo(list);
      record::check_slo(objectives, classes, !plan::is_users(options.plan));
      for (const auto& objective : objectives) {
        const auto same = [&](const auto& other) { return other.name == objective.name; };
        if (std::any_of(options.slo.begin(), options.slo.end(), same)) {
          throw std::invalid_argument(fmt::format("found '{}' twice, accepted: once", objective.name));
        }
        options.slo.push_back(objective);
      }
    } catch (const std::invalid_argument& error) {
      throw UsageError(fmt::format("{}: {}", where, error.what()));
    }
  }
}

// A rate that the answers do not keep up with is not met, whatever their latency.
void follow_rate(Options& options) {
  const auto is_rate = [](const auto& objective) {
    return objective.measure == record::SloMeasure::rate || objective.measure == record::SloMeasure::ok_rate;
  };
  if (std::any_of(options.slo.begin(), options.slo.end(), is_rate)) return;
  options.slo.push_back(record::parse_slo("rate=99%").front());
}

const std::string& one_url(const Arguments& arguments) {
  const auto& words = arguments.words();
  if (words.empty()) {
    throw UsageError(arguments.command() == Command::find_max
                         ? "no URL; see heddle-load find-max --help"
                         : "no URL and no --plan; see heddle-load --help");
  }
  if (words.size() > 1) throw UsageError(fmt::format("one URL is accepted, found another: '{}'", words[1]));
  return words.front();
}

void read_plan_file(const Arguments& arguments, Options& options) {
  if (const auto* other = arguments.first_beside_plan()) {
    throw UsageError(fmt::format("--{}: not together with --plan", other->name));
  }
  if (!arguments.words().empty()) {
    throw UsageError(
        fmt::format("found the URL '{}' and --plan, accepted: one of them", arguments.words().front()));
  }
  auto read = plan::read_plan(arguments.text("plan", ""));
  options.plan = std::move(read.plan);
  options.warnings = std::move(read.warnings);
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  const Arguments arguments{argc, argv};
  Options options;
  options.command = arguments.command();
  options.help = arguments.has("help");
  options.version = arguments.has("version");
  options.completion = arguments.text("completion", "");
  if (arguments.has("completion")) (void)completion_script(options.completion);
  if (options.help || options.version || arguments.has("completion")) return options;
  read_output(arguments, options);
  if (options.command == Command::calibrate) {
    if (!arguments.words().empty()) {
      throw UsageError(
          fmt::format("--calibrate: found the URL '{}', accepted: none", arguments.words().front()));
    }
    options.plan = engine_plan_of(arguments);
    return options;
  }
  if (arguments.has("plan")) {
    read_plan_file(arguments, options);
  } else {
    options.plan = plan_of(arguments, one_url(arguments));
  }
  options.plan.seed = static_cast<std::uint64_t>(
      arguments.integer("seed", 0, INT64_MAX, static_cast<std::int64_t>(options.plan.seed)));
  if (options.command == Command::find_max) {
    if (!arguments.has("slo")) throw UsageError("find-max: no --slo; what should hold at the highest rate?");
    read_search(arguments, options);
  }
  read_slo(arguments, options);
  if (options.command == Command::find_max) follow_rate(options);
  return options;
}

}  // namespace heddle::load
