// The calibration as a file, written by `heddle-load --calibrate` and read by later runs:
//
//   {"schema": 1, "utc": "2026-01-31T12:34:56.789Z", "version": "0.1.0", "quick": false, "passed": true,
//    "host": {"cpuModel": TEXT, "kernel": RELEASE, "cpus": N},
//    "threads": N, "threadCpus": [N...], "nullServerCpus": [N...], "sharedCpus": BOOL,
//    "runDelayPercent": N,
//    "ceiling": [{"connectionsPerThread": N, "perSecondPerThread": SPREAD, "cpuMicrosPerRequest": SPREAD,
//                 "usefulBusyPercent": SPREAD}...],
//    "pacing": [{"connections": N, "perSecond": R, "lateMicros": {"p50": US, "p99": US, "max": US},
//                "usefulBusyPercent": N, "skipped": null or why}...],
//    "stall": {"connections": N, "perSecond": R, "windowSeconds": S, "stallMillis": MS, "unanswered": N,
//              "fromDue": {"p99Millis": MS, "expectedMillis": MS, "toleranceMillis": MS, "passed": BOOL},
//              "fromSent": {"p99Millis": MS, "atMostMillis": MS, "passed": BOOL}}}
//
// SPREAD is {"median", "min", "max"} of the repeats; what was not measured is null. A reader needs schema,
// utc, host, ceiling, passed and runDelayPercent; other keys may be added.
#pragma once

#include "loadgen/calibrate/calibration.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>

namespace heddle::load {

[[nodiscard]] boost::json::object calibration_json(const Calibration& calibration);

// $XDG_STATE_HOME/heddle/load-calibration.json, without that variable below ~/.local/state. Empty when there
// is no home either.
[[nodiscard]] std::filesystem::path default_calibration_file();

// Makes the folder and tries to write beside the file, so that half a minute is not measured in vain. Throws
// std::invalid_argument that names the file. Blocks.
void check_writable(const std::filesystem::path& file);

// Writes it in one step; its folder is there. Throws std::runtime_error that names the file. Blocks.
void write_calibration(const Calibration& calibration, const std::filesystem::path& file);

// The part of the file that later runs use.
struct StoredCeiling {
  std::string utc;
  HostId host;
  struct Point {
    std::int64_t connections_per_thread = 0;
    double per_second_per_thread = 0;  // the median
  };
  std::vector<Point> points;  // one at least, by connections
  std::string doubt;          // why its numbers cannot be trusted; empty when they can
};

// Throws std::invalid_argument: the key, what was found, what is accepted.
[[nodiscard]] StoredCeiling parse_ceiling(std::string_view text);

}  // namespace heddle::load
