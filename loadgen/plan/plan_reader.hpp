// plan.json -> Plan.
#pragma once

#include "loadgen/plan/plan.hpp"

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::plan {

// One line: the key, what was found, what is accepted.
class PlanError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct ReadPlan {
  Plan plan;
  std::vector<std::string> warnings;  // keys that are not known and were ignored
};

// Parses and checks. Relative body files are resolved against `folder`. Throws PlanError, for text that is no
// JSON as "NAME:LINE:COLUMN: ...". No I/O.
[[nodiscard]] ReadPlan parse_plan(std::string_view json, const std::filesystem::path& folder,
                                  const std::string& name = "plan");

// Checks what no single key can tell: measure stages exist, warm-up comes first, users and rates are not
// mixed, no more users than connections, names fit into the reports. Throws PlanError.
void check_plan(const Plan& plan);

// Reads the file and parses it. Throws PlanError, also when the file cannot be read. Blocks.
[[nodiscard]] ReadPlan read_plan(const std::filesystem::path& file);

}  // namespace heddle::plan
