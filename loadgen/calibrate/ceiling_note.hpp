// How near a run comes to this host's calibrated limit. Above 60 % of it a generator's own queueing begins to
// show in what it measures.
#pragma once

#include "loadgen/calibrate/ceiling_file.hpp"
#include "loadgen/plan/plan.hpp"
#include "loadgen/record/result.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace heddle::load {

// Above this share of the ceiling a run says so.
inline constexpr double kCeilingShare = 0.60;

// The ceiling of one thread with `connections_per_thread`: of the nearest calibrated count outside of their
// range, of the lower of the two neighbours in between.
[[nodiscard]] double ceiling_at(const StoredCeiling& stored, double connections_per_thread);

// The highest rate of any measure stage, requests per second; 0 for users, whose rate depends on the answers.
[[nodiscard]] double peak_rate(const plan::Plan& plan);

// `per_second` over all threads as a share of the ceiling.
[[nodiscard]] record::Ceiling share_of(const StoredCeiling& stored, std::int64_t connections,
                                       std::int64_t threads, double per_second);

// Empty up to kCeilingShare.
[[nodiscard]] std::string ceiling_warning(const record::Ceiling& ceiling);

// What is there for one run.
struct CeilingNote {
  std::optional<StoredCeiling> stored;     // a calibration of this host
  std::optional<record::Ceiling> ceiling;  // its share, when the plan tells the rate
  std::string message;  // for people: why it is ignored, or that the share is high; or empty
};

// Reads `file`, by default default_calibration_file(). Without a file, or with one of another host, one that
// was disturbed or failed, or one that cannot be read, there is no ceiling; that is no error. Only a file
// that was asked for is missed. Blocks for a moment.
[[nodiscard]] CeilingNote ceiling_note(const plan::Plan& plan, const std::filesystem::path& file,
                                       const HostId& here);

// After the run: puts the ceiling into the result, for users with the rate that they reached. Returns the
// warning for them, or nothing.
[[nodiscard]] std::string conclude_ceiling(const CeilingNote& note, const plan::Plan& plan,
                                           record::RunResult& result);

}  // namespace heddle::load
