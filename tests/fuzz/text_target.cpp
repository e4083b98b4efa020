// Texts of the command line: refused with their own exception, or a value within its range. The first letter
// chooses who reads the rest.
#include "loadgen/cli/values.hpp"
#include "loadgen/options.hpp"
#include "loadgen/plan/schedule.hpp"
#include "loadgen/record/slo.hpp"
#include "tests/fuzz/target.hpp"

#include <cmath>
#include <stdexcept>

namespace heddle::fuzz {
namespace {

constexpr plan::Nanos kLongest = plan::kMaxDurationMillis * plan::kMillisecond;

void check(const plan::Arrivals& arrivals) {
  const plan::Stage stage{"s", plan::StageKind::measure, plan::kSecond, arrivals};
  require(plan::arrival_count(stage) >= 0, "a rate is not negative");
}

// Written again from their texts they are the same objectives.
void check_objectives(std::string_view text) {
  const auto objectives = record::parse_slo(text);
  std::string again;
  for (const auto& one : objectives) {
    require(std::isfinite(one.limit) && one.limit >= 0, "a limit is a number");
    require(one.quantile >= 0 && one.quantile <= 1, "a quantile is a share");
    again += (again.empty() ? "" : ",") + one.text;
  }
  const auto second = record::parse_slo(again);
  require(second.size() == objectives.size(), "written again they are as many");
  for (std::size_t i = 0; i < second.size(); ++i) {
    require(second[i].text == objectives[i].text && second[i].limit == objectives[i].limit,
            "written again they are the same");
  }
}

void check_duration(const std::string& text) {
  const auto duration = load::parse_duration(text, "--x");
  require(duration >= 0 && duration <= kLongest, "a duration is within its range");
}

void check_think(const std::string& text) {
  const auto think = load::parse_think(text);
  require(think.low >= 0 && think.high >= think.low && think.high <= kLongest, "thoughts take time");
}

void check_stage(const std::string& text) {
  const auto stage = load::parse_stage(text);
  require(stage.duration > 0 && stage.duration <= kLongest, "a stage takes time");
  check(stage.arrivals);
}

void read(char kind, const std::string& text) {
  switch (kind) {
    case 'd':
      return check_duration(text);
    case 'h':
      return require(!load::parse_header(text).first.empty(), "a header has a name");
    case 'r':
      return check(load::parse_rate(text, "--x"));
    case 's':
      return check_stage(text);
    case 't':
      return check_think(text);
    default:
      return check_objectives(text);
  }
}

}  // namespace
}  // namespace heddle::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  try {
    heddle::fuzz::read(static_cast<char>(data[0]), std::string{heddle::fuzz::text_of(data + 1, size - 1)});
  } catch (const heddle::load::UsageError&) {
    return 0;
  } catch (const std::invalid_argument&) {
    return 0;
  }
  return 0;
}
