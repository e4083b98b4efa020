#include "loadgen/calibrate/ceiling_file.hpp"

#include "loadgen/plan/json_reader.hpp"
#include "loadgen/report/output_file.hpp"
#include "loadgen/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

namespace heddle::load {
namespace {

namespace json = boost::json;

// Three decimals: finer than any of these repeats.
double rounded(double value) {
  return std::round(value * 1000) / 1000;
}

json::value nullable(const std::optional<double>& value) {
  return value ? json::value(rounded(*value)) : json::value(nullptr);
}
json::value nullable(const std::optional<std::int64_t>& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

json::object spread(const Spread& s, double factor = 1) {
  return {{"median", rounded(s.median * factor)},
          {"min", rounded(s.low * factor)},
          {"max", rounded(s.high * factor)}};
}

json::object ceiling_object(const CeilingPoint& point) {
  return {{"connectionsPerThread", point.connections},
          {"perSecondPerThread", spread(point.per_second)},
          {"cpuMicrosPerRequest", spread(point.cpu_micros)},
          {"usefulBusyPercent", spread(point.busy_share, 100)}};
}

json::object pacing_object(const PacingPoint& point) {
  const bool done = point.skipped.empty();
  return {{"connections", point.connections},
          {"perSecond", rounded(point.per_second)},
          {"lateMicros",
           {{"p50", nullable(point.p50)}, {"p99", nullable(point.p99)}, {"max", nullable(point.max)}}},
          {"usefulBusyPercent", done ? json::value(rounded(100 * point.busy_share)) : json::value(nullptr)},
          {"skipped", done ? json::value(nullptr) : json::value(json::string{point.skipped})}};
}

json::object stall_object(const StallCheck& stall) {
  return {{"connections", stall.connections},
          {"perSecond", rounded(stall.per_second)},
          {"windowSeconds", rounded(stall.window_seconds)},
          {"stallMillis", rounded(stall.stall_millis)},
          {"unanswered", stall.unanswered},
          {"fromDue",
           {{"p99Millis", nullable(stall.due_millis)},
            {"expectedMillis", rounded(stall.expected_due_millis)},
            {"toleranceMillis", rounded(stall.tolerance_millis)},
            {"passed", stall.due_passed()}}},
          {"fromSent",
           {{"p99Millis", nullable(stall.sent_millis)},
            {"atMostMillis", rounded(stall.most_sent_millis)},
            {"passed", stall.sent_passed()}}}};
}

json::array list(const std::vector<int>& numbers) {
  return json::array(numbers.begin(), numbers.end());
}

// ---- reading -------------------------------------------------------------------------------------------

// The member `key` of `object`, which stands at `where`; throws when `fits` says no.
template <class Fits>
const json::value& member(const json::object& object, std::string_view where, std::string_view key,
                          std::string_view accepted, Fits fits) {
  const auto* value = object.if_contains(key);
  if (value != nullptr && fits(*value)) return *value;
  throw std::invalid_argument(fmt::format("{}{}: found {}, accepted: {}", where, key,
                                          value == nullptr ? "nothing" : plan::shown(*value), accepted));
}

const json::object& object_at(const json::object& object, std::string_view where, std::string_view key) {
  return member(object, where, key, "an object", [](const json::value& v) { return v.is_object(); })
      .as_object();
}

std::string text_at(const json::object& object, std::string_view where, std::string_view key) {
  return std::string{
      member(object, where, key, "a text", [](const json::value& v) { return v.is_string(); }).as_string()};
}

double positive_at(const json::object& object, std::string_view where, std::string_view key) {
  const auto fits = [](const json::value& v) {
    return v.is_number() && std::isfinite(v.to_number<double>()) && v.to_number<double>() > 0;
  };
  return member(object, where, key, "a number above 0", fits).to_number<double>();
}

// Why the numbers of a calibration cannot be trusted, or nothing.
std::string doubt_of(const json::object& object) {
  const auto passed = member(object, "", "passed", "true or false", [](const json::value& v) {
                        return v.is_bool();
                      }).as_bool();
  const auto delay = member(object, "", "runDelayPercent", "a number from 0 on", [](const json::value& v) {
                       return v.is_number() && v.to_number<double>() >= 0;
                     }).to_number<double>();
  if (!passed) return "its check with a stall of the server failed";
  if (delay <= 100 * kDisturbed) return {};
  return fmt::format("a thread waited {:.1f} % of the time for its CPU, over {:.0f} %", delay,
                     100 * kDisturbed);
}

}  // namespace

json::object calibration_json(const Calibration& c) {
  json::array ceiling;
  for (const auto& point : c.ceiling) ceiling.push_back(ceiling_object(point));
  json::array pacing;
  for (const auto& point : c.pacing) pacing.push_back(pacing_object(point));
  return {{"schema", 1},
          {"utc", c.utc},
          {"version", c.version},
          {"quick", c.quick},
          {"passed", c.stall.due_passed() && c.stall.sent_passed()},
          {"host", {{"cpuModel", c.host.cpu_model}, {"kernel", c.host.kernel}, {"cpus", c.host.cpus}}},
          {"threads", c.threads},
          {"threadCpus", list(c.thread_cpus)},
          {"nullServerCpus", list(c.server_cpus)},
          {"sharedCpus", c.shared_cpus},
          {"runDelayPercent", rounded(100 * c.run_delay_share)},
          {"ceiling", std::move(ceiling)},
          {"pacing", std::move(pacing)},
          {"stall", stall_object(c.stall)}};
}

std::filesystem::path default_calibration_file() {
  const auto below = [](const char* folder) {
    return std::filesystem::path{folder} / "heddle" / "load-calibration.json";
  };
  // The XDG base directory specification: a relative path is no path.
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && state[0] == '/') return below(state);
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return below((std::string{home} + "/.local/state").c_str());
  return {};
}

void check_writable(const std::filesystem::path& file) {
  std::error_code error;
  const auto folder = file.parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  std::error_code unknown;
  if (error || std::filesystem::is_directory(file, unknown)) {
    const auto why = error ? error.message() : std::string{"it is a folder"};
    throw std::invalid_argument(fmt::format("cannot write {}: {}", file.string(), why));
  }
  auto probe = file;
  probe += ".probe";
  try {
    const report::OutputFile tried{probe};
  } catch (const std::runtime_error& unusable) {
    throw std::invalid_argument(unusable.what());
  }
  std::filesystem::remove(probe, error);
}

void write_calibration(const Calibration& calibration, const std::filesystem::path& file) {
  report::write_atomically(file, report::pretty(calibration_json(calibration)));
}

StoredCeiling parse_ceiling(std::string_view text) {
  json::error_code error;
  const auto root = json::parse(text, error);
  if (error) throw std::invalid_argument(fmt::format("no valid JSON ({})", error.message()));
  if (!root.is_object())
    throw std::invalid_argument(fmt::format("found {}, accepted: an object", plan::shown(root)));
  const auto& object = root.as_object();
  member(object, "", "schema", "1", [](const json::value& v) { return v == json::value(1); });
  StoredCeiling stored;
  stored.utc = text_at(object, "", "utc");
  const auto& host = object_at(object, "", "host");
  stored.host = {text_at(host, "host.", "cpuModel"), text_at(host, "host.", "kernel"),
                 static_cast<int>(std::min(positive_at(host, "host.", "cpus"), 1e6))};
  const auto& points = member(object, "", "ceiling", "a list that is not empty", [](const json::value& v) {
                         return v.is_array() && !v.as_array().empty();
                       }).as_array();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto where = fmt::format("ceiling[{}].", i);
    if (!points[i].is_object()) {
      throw std::invalid_argument(
          fmt::format("ceiling[{}]: found {}, accepted: an object", i, plan::shown(points[i])));
    }
    const auto& point = points[i].as_object();
    const auto& rate = object_at(point, where, "perSecondPerThread");
    stored.points.push_back(
        {static_cast<std::int64_t>(std::min(positive_at(point, where, "connectionsPerThread"), 1e9)),
         positive_at(rate, where + "perSecondPerThread.", "median")});
  }
  std::sort(stored.points.begin(), stored.points.end(),
            [](const auto& a, const auto& b) { return a.connections_per_thread < b.connections_per_thread; });
  stored.doubt = doubt_of(object);
  return stored;
}

}  // namespace heddle::load
