#include "loadgen/record/result.hpp"

namespace heddle::record {

std::string_view name_of(Status status) {
  switch (status) {
    case Status::complete:
      return "complete";
    case Status::interrupted:
      return "interrupted";
    case Status::failed:
      return "failed";
  }
  return "failed";
}

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok:
      return "ok";
    case Verdict::late:
      return "late";
    case Verdict::saturated:
      return "saturated";
  }
  return "saturated";
}

std::int64_t ConnectionStats::refused() const {
  const auto found = errors.find(std::string{name_of(TransportError::refused)});
  return found == errors.end() ? 0 : found->second;
}

void SourceStats::merge(const SourceStats& o) {
  asked += o.asked;
  opened += o.opened;
  lost += o.lost;
  reopened += o.reopened;
}

void ConnectionStats::merge(const ConnectionStats& o) {
  asked += o.asked;
  opened += o.opened;
  lost += o.lost;
  reopened += o.reopened;
  for (const auto& [name, count] : o.errors) errors[name] += count;
  connect_time.merge(o.connect_time);
  for (const auto& [source, stats] : o.by_source) by_source[source].merge(stats);
}

Cell sum_of(std::span<const Cell> cells) {
  Cell sum;
  for (const auto& cell : cells) {
    sum.merge(cell);
    sum.counts.in_flight += cell.counts.in_flight;
  }
  return sum;
}

Cell StageResult::total() const {
  return sum_of(classes);
}

std::optional<StageResult> RunResult::window() const {
  std::optional<StageResult> window;
  for (const auto& stage : stages) {
    if (!stage.measured) continue;
    if (!window) {
      window = stage;
      window->name = "window";
      continue;
    }
    window->end_nanos = stage.end_nanos;
    for (std::size_t i = 0; i < stage.classes.size(); ++i) {
      window->classes[i].merge(stage.classes[i]);
      window->classes[i].counts.in_flight += stage.classes[i].counts.in_flight;
    }
  }
  return window;
}

}  // namespace heddle::record
