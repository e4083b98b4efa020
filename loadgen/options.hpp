// The command line of heddle-load.
#pragma once

#include "loadgen/plan/plan.hpp"

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

struct Options {
  bool help = false;
  bool version = false;
  bool json = false;
  bool strict = false;
  std::filesystem::path out;              // empty = no files
  std::filesystem::path events;           // empty = none, "-" = standard output
  std::filesystem::path record_requests;  // --record-requests: one row per request; empty = none
  // --calibrate: measure this host instead of a server. The plan then holds what was given of connections,
  // threads, CPUs and spinning, and no target. --calibration: where its result lies; empty = the default
  // place.
  bool calibrate = false;
  std::filesystem::path calibration;
  plan::Plan plan;
  std::vector<std::string> warnings;
};

// Reads the plan file when one is given. Throws UsageError or plan::PlanError.
[[nodiscard]] Options parse_options(int argc, const char* const* argv);

[[nodiscard]] std::string help_text();

// "10s", "1500ms", "2m", "1h", "10" (seconds) -> ns. Throws UsageError that names `option`.
[[nodiscard]] plan::Nanos parse_duration(const std::string& text, const std::string& option);

}  // namespace heddle::load
