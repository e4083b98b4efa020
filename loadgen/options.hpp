// The command line of heddle-load.
#pragma once

#include "loadgen/cli/option_table.hpp"
#include "loadgen/plan/plan.hpp"
#include "loadgen/record/slo.hpp"

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace heddle::load {

// One line for standard error; exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The rates that find-max goes through, in requests per second.
struct SearchOptions {
  double from = 100;
  double to = 1'000'000;
  double precision = 0.05;  // as a share
  plan::Nanos step_time = 5 * plan::kSecond;
  plan::Nanos warmup = plan::kSecond;
  plan::Nanos pause = plan::kSecond;
  int repeats = 5;
};

struct Options {
  Command command = Command::run;
  bool help = false;
  bool version = false;
  bool json = false;
  bool strict = false;
  std::string completion;                 // a shell's name; empty = none asked for
  std::filesystem::path out;              // empty = no files
  std::filesystem::path events;           // empty = none, "-" = standard output
  std::filesystem::path record_requests;  // one row per request; empty = none
  std::filesystem::path calibration;      // where this host's calibration lies; empty = the default place
  bool quick = false;                     // of a calibration
  // What to run. find-max sets rate and length of the stages for each step. A calibration uses its threads,
  // CPUs and spinning only; there is no target then.
  plan::Plan plan;
  std::vector<record::Objective> slo;  // the plan's and the command line's
  SearchOptions search;
  std::vector<std::string> warnings;
};

// Reads the plan file when one is given. Throws UsageError or plan::PlanError.
[[nodiscard]] Options parse_options(int argc, const char* const* argv);

// What --help prints: at most 100 columns.
[[nodiscard]] std::string help_text(Command command);

// The script for bash. Throws UsageError for another shell.
[[nodiscard]] std::string completion_script(const std::string& shell);

// "10s", "1500ms", "50us", "2m", "1h", "10" (seconds) -> ns. Throws UsageError that names `option`.
[[nodiscard]] plan::Nanos parse_duration(const std::string& text, const std::string& option);

}  // namespace heddle::load
