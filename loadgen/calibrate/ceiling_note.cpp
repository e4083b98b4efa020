#include "loadgen/calibrate/ceiling_note.hpp"

#include "loadgen/plan/input_file.hpp"

#include <algorithm>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

namespace heddle::load {
namespace {

constexpr std::size_t kLargestFile = 1024UL * 1024;

}  // namespace

double ceiling_at(const StoredCeiling& stored, double connections_per_thread) {
  const auto& points = stored.points;
  const auto above = std::find_if(points.begin(), points.end(), [&](const StoredCeiling::Point& point) {
    return static_cast<double>(point.connections_per_thread) >= connections_per_thread;
  });
  if (above == points.end()) return points.back().per_second_per_thread;
  const bool exact = static_cast<double>(above->connections_per_thread) == connections_per_thread;
  if (above == points.begin() || exact) return above->per_second_per_thread;
  return std::min(above->per_second_per_thread, std::prev(above)->per_second_per_thread);
}

double peak_rate(const plan::Plan& plan) {
  double peak = 0;
  for (const auto& stage : plan.stages) {
    if (stage.kind == plan::StageKind::measure) peak = std::max(peak, plan::highest_rate(stage));
  }
  return peak;
}

record::Ceiling share_of(const StoredCeiling& stored, std::int64_t connections, std::int64_t threads,
                         double per_second) {
  const auto used = static_cast<double>(plan::threads_for(connections, threads));
  const double ceiling = ceiling_at(stored, static_cast<double>(connections) / used);
  return {ceiling, per_second / used / ceiling, stored.utc};
}

std::string ceiling_warning(const record::Ceiling& ceiling) {
  if (ceiling.share <= kCeilingShare) return {};
  return fmt::format(
      "the load is {:.1f} % of this host's calibrated ceiling ({:.0f} requests per second and thread, {}), "
      "over {:.0f} %: use more threads or less load",
      100 * ceiling.share, ceiling.per_second_per_thread, ceiling.calibrated, 100 * kCeilingShare);
}

CeilingNote ceiling_note(const plan::Plan& plan, const std::filesystem::path& file, const HostId& here) {
  CeilingNote note;
  const auto path = file.empty() ? default_calibration_file() : file;
  std::error_code error;
  if (path.empty() || (file.empty() && !std::filesystem::exists(path, error))) return note;
  try {
    note.stored = parse_ceiling(plan::read_input_file(path, "the calibration", kLargestFile));
  } catch (const std::invalid_argument& problem) {
    note.message = fmt::format("the calibration {} is ignored: {}; heddle-load --calibrate writes a new one",
                               path.string(), problem.what());
    return note;
  }
  if (!note.stored->host.same_host(here)) {
    note.message = fmt::format(
        "the calibration {} is ignored: made on {}, Linux {}, this is {}, Linux {}; heddle-load --calibrate "
        "writes a new one",
        path.string(), note.stored->host.cpu_model, note.stored->host.kernel, here.cpu_model, here.kernel);
    note.stored.reset();
    return note;
  }
  if (!note.stored->doubt.empty()) {
    note.message =
        fmt::format("the calibration {} is ignored: {}; repeat heddle-load --calibrate on a quiet host",
                    path.string(), note.stored->doubt);
    note.stored.reset();
    return note;
  }
  if (plan::is_users(plan)) return note;
  note.ceiling = share_of(*note.stored, plan::connections_of(plan), plan.threads, peak_rate(plan));
  note.message = ceiling_warning(*note.ceiling);
  return note;
}

std::string conclude_ceiling(const CeilingNote& note, const plan::Plan& plan, record::RunResult& result) {
  result.generator.ceiling = note.ceiling;
  if (!note.stored || note.ceiling) return {};
  const auto window = result.window();
  if (!window || window->end_nanos <= window->start_nanos) return {};
  const double seconds = static_cast<double>(window->end_nanos - window->start_nanos) / 1e9;
  const double reached = static_cast<double>(window->total().counts.sent) / seconds;
  result.generator.ceiling = share_of(*note.stored, plan::connections_of(plan), plan.threads, reached);
  return ceiling_warning(*result.generator.ceiling);
}

}  // namespace heddle::load
