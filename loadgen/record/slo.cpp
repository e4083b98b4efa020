#include "loadgen/record/slo.hpp"

#include "loadgen/record/throughput.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace heddle::record {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 5> kQuantiles{
    {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}, {"max", 1.0}}};
constexpr std::array<std::pair<std::string_view, double>, 3> kTimeUnits{
    {{"us", 0.001}, {"ms", 1}, {"s", 1000}}};
// Products of doubles that are equal on paper differ by less than this share.
constexpr double kSlack = 1e-12;

[[noreturn]] void refuse(std::string_view found) {
  throw std::invalid_argument(fmt::format("found '{}', accepted: {}", found, kSloAccepted));
}

bool is_time(const Objective& objective) {
  return objective.measure == SloMeasure::latency || objective.measure == SloMeasure::service;
}

std::string_view unit_of(const Objective& objective) {
  if (is_time(objective)) return "ms";
  return objective.measure == SloMeasure::ok_rate ? "/s" : "%";
}

// What `key` (without the request) measures; false when it is no key.
bool read_key(std::string_view key, Objective& out) {
  if (key == "errors" || key == "rate" || key == "ok-rate") {
    out.measure = key == "errors" ? SloMeasure::errors
                  : key == "rate" ? SloMeasure::rate
                                  : SloMeasure::ok_rate;
    return true;
  }
  constexpr std::string_view service = "service-";
  if (key.starts_with(service)) {
    out.measure = SloMeasure::service;
    key.remove_prefix(service.size());
  }
  const auto* found = std::find_if(kQuantiles.begin(), kQuantiles.end(),
                                   [key](const auto& known) { return known.first == key; });
  if (found == kQuantiles.end()) return false;
  out.quantile = found->second;
  return true;
}

// In the objective's unit; empty when `text` is no limit for it.
std::optional<double> read_limit(std::string_view text, const Objective& objective) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !(value >= 0) || !std::isfinite(value)) return {};
  const std::string_view unit{end, static_cast<std::size_t>(text.data() + text.size() - end)};
  if (is_time(objective)) {
    for (const auto& [name, factor] : kTimeUnits) {
      if (unit == name) return value * factor;
    }
    return {};
  }
  if (unit != unit_of(objective)) return {};
  if (unit == "%" && value > 100) return {};
  return value;
}

Objective read_objective(std::string_view item) {
  const auto equals = item.rfind('=');
  if (equals == std::string_view::npos) refuse(item);
  auto key = item.substr(0, equals);
  Objective out;
  out.text = item;
  out.name = key;
  if (const auto colon = key.rfind(':'); colon != std::string_view::npos) {
    if (colon == 0) refuse(item);
    out.request_class = key.substr(0, colon);
    key.remove_prefix(colon + 1);
  }
  if (!read_key(key, out)) refuse(item);
  const auto limit = read_limit(item.substr(equals + 1), out);
  if (!limit) refuse(item);
  out.limit = *limit;
  return out;
}

std::int64_t needed(double quantile, std::int64_t samples_above) {
  return std::llround(std::ceil(static_cast<double>(samples_above) / (1 - quantile) * (1 - kSlack)));
}

void unknown(SloResult& out, std::string reason) {
  out.state = SloState::unknown;
  out.reason = std::move(reason);
}

std::string shown(const SloResult& result) {
  return fmt::format("{}{:.6g} {}", result.at_least ? ">=" : "", result.value.value_or(0), result.unit);
}

void compare(SloResult& out, bool met, std::string_view relation) {
  out.state = met ? SloState::met : SloState::missed;
  if (!met) out.reason = fmt::format("{} is {} {:.6g} {}", shown(out), relation, out.limit, out.unit);
}

void judge_time(const Objective& objective, const Cell& cell, std::int64_t samples_above, SloResult& out) {
  const auto& distribution = objective.measure == SloMeasure::service ? cell.service : cell.latency;
  const bool is_max = objective.quantile >= 1;
  const auto value =
      is_max ? largest(distribution) : quantile(distribution, objective.quantile, samples_above);
  if (!value) {
    unknown(out, distribution.size() == 0
                     ? "no request was measured"
                     : fmt::format("{} requests were measured, this percentile needs {}", distribution.size(),
                                   needed(objective.quantile, samples_above)));
    return;
  }
  out.value = static_cast<double>(value->micros) / 1000;
  out.at_least = value->at_least;
  if (out.at_least && *out.value <= out.limit) {
    unknown(out, fmt::format("{} requests without an answer: it is {} or more",
                             distribution.waiting.count() + distribution.waiting.overflow(),
                             fmt::format("{:.6g} ms", *out.value)));
    return;
  }
  compare(out, *out.value <= out.limit, "over");
}

void judge_errors(const Counts& n, SloResult& out) {
  if (n.sent == 0) return unknown(out, "nothing was sent");
  const auto found = 100.0 * static_cast<double>(n.errors() + n.in_flight);
  out.value = found / static_cast<double>(n.sent);
  compare(out, found <= out.limit * static_cast<double>(n.sent) * (1 + kSlack), "over");
}

// The cells that an objective is about: one request type, or all.
std::span<const Cell> cells_of(const StageResult& window, const RunInfo& info,
                               const std::string& request_class) {
  if (request_class.empty()) return window.classes;
  for (std::size_t i = 0; i < info.classes.size(); ++i) {
    if (info.classes[i] == request_class) return {&window.classes[i], 1};
  }
  return {};
}

void judge_rate(std::span<const Cell> cells, const RunInfo& info, double seconds, SloResult& out) {
  if (info.users) return unknown(out, "users have no rate to be met");
  const auto share = served_share(cells, seconds);
  if (!share) return unknown(out, "nothing was due");
  out.value = 100 * *share;
  compare(out, *out.value >= out.limit * (1 - kSlack), "under");
}

SloResult judge_one(const Objective& objective, const StageResult& window, const RunInfo& info,
                    std::int64_t samples_above) {
  SloResult out{objective.name, std::string{unit_of(objective)}, objective.limit, {}, false, {}, {}};
  const auto cells = cells_of(window, info, objective.request_class);
  const auto cell = sum_of(cells);
  const auto& n = cell.counts;
  const double seconds = static_cast<double>(window.end_nanos - window.start_nanos) / 1e9;
  switch (objective.measure) {
    case SloMeasure::latency:
    case SloMeasure::service:
      judge_time(objective, cell, samples_above, out);
      break;
    case SloMeasure::errors:
      judge_errors(n, out);
      break;
    case SloMeasure::rate:
      judge_rate(cells, info, seconds, out);
      break;
    case SloMeasure::ok_rate:
      if (seconds <= 0) {
        unknown(out, "the window has no length");
      } else {
        out.value = static_cast<double>(n.ok_in_time) / answer_seconds(cells, seconds);
        compare(out, *out.value >= out.limit * (1 - kSlack), "under");
      }
      break;
  }
  return out;
}

}  // namespace

std::vector<Objective> parse_slo(std::string_view list) {
  std::vector<Objective> out;
  std::set<std::string, std::less<>> names;
  while (true) {
    const auto comma = list.find(',');
    out.push_back(read_objective(list.substr(0, comma)));
    if (!names.insert(out.back().name).second) {
      throw std::invalid_argument(fmt::format("found '{}' twice, accepted: each key once", out.back().name));
    }
    if (comma == std::string_view::npos) return out;
    list.remove_prefix(comma + 1);
  }
}

void check_slo(const std::vector<Objective>& objectives, const std::vector<std::string>& classes,
               bool rated) {
  for (const auto& objective : objectives) {
    const auto& name = objective.request_class;
    if (!name.empty() && std::find(classes.begin(), classes.end(), name) == classes.end()) {
      throw std::invalid_argument(
          fmt::format("found '{}', accepted: the requests {}", objective.text, fmt::join(classes, ", ")));
    }
    if (objective.measure == SloMeasure::rate && !rated) {
      throw std::invalid_argument(fmt::format(
          "found '{}', accepted: a share of the rate where there is a rate; ok-rate=N/s otherwise",
          objective.text));
    }
  }
}

std::vector<SloResult> judge_slo(const std::vector<Objective>& objectives, const RunResult& result,
                                 std::int64_t samples_above) {
  std::vector<SloResult> out;
  const auto window = result.window();
  for (const auto& objective : objectives) {
    if (!window) {
      out.push_back({objective.name, std::string{unit_of(objective)}, objective.limit, {}, false, {}, {}});
      unknown(out.back(), "the load did not begin");
      continue;
    }
    out.push_back(judge_one(objective, *window, result.info, samples_above));
    if (out.back().state == SloState::met || result.generator.verdict == Verdict::ok) continue;
    out.back().reason += fmt::format("; the generator was {}: the server need not be the cause",
                                     name_of(result.generator.verdict));
  }
  return out;
}

bool all_met(const std::vector<SloResult>& results) {
  return std::all_of(results.begin(), results.end(),
                     [](const auto& result) { return result.state == SloState::met; });
}

std::int64_t samples_needed(const std::vector<Objective>& objectives, std::int64_t samples_above) {
  std::int64_t most = 0;
  for (const auto& objective : objectives) {
    if (is_time(objective) && objective.quantile < 1) {
      most = std::max(most, needed(objective.quantile, samples_above));
    }
  }
  return most;
}

std::string_view name_of(SloState state) {
  switch (state) {
    case SloState::met:
      return "met";
    case SloState::missed:
      return "missed";
    case SloState::unknown:
      return "unknown";
  }
  return "unknown";
}

}  // namespace heddle::record
