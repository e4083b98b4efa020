// `heddle-load --calibrate`: this host's own limits, measured, shown and stored.
#pragma once

#include "loadgen/calibrate/calibration.hpp"
#include "loadgen/calibrate/steps.hpp"

#include <filesystem>
#include <string>

namespace heddle::load {

struct CalibrateOptions {
  MeasureOptions measure;
  std::filesystem::path file;  // empty = default_calibration_file()
  std::string version;         // of this program
  bool quick = false;          // takes quick_steps()
  bool json = false;           // prints the file's content instead of the table
};

// Measures, stores the result and prints it. Returns the exit code: 0, 1 when the check with a stall failed,
// 130 when interrupted (nothing is stored then). Throws what measure_host() throws, std::invalid_argument
// when there is no place for the file or none can be made there, which is found first, and
// std::runtime_error when it cannot be written later. Blocks for up to 30 s.
[[nodiscard]] int calibrate(const CalibrateOptions& options);

// The table for people.
[[nodiscard]] std::string calibration_report(const Calibration& calibration);

}  // namespace heddle::load
