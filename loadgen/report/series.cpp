#include "loadgen/report/series.hpp"

#include "loadgen/report/second.hpp"
#include "loadgen/report/text.hpp"

#include <stdexcept>

#include <fmt/format.h>

namespace heddle::report {
namespace json = boost::json;

void SecondsCsv::started(const record::RunInfo& info) {
  info_ = info;
  file_.write(
      "epoch_millis,monotonic_nanos,stage,request,offered,sent,ok,http_errors,transport_errors,timeouts,"
      "in_flight,bytes_sent,bytes_received,lag_micros_p99,interval_millis,spin_micros\n");
}

void SecondsCsv::second(const record::Second& second) {
  const auto lag = quantile(second.data->lag, 0.99, record::kSamplesAboveForCharts);
  const auto lag_text = lag ? std::to_string(*lag) : std::string{};
  std::string rows;
  for (std::size_t s = 0; s < info_.stages.size(); ++s) {
    for (std::size_t c = 0; c < info_.classes.size(); ++c) {
      const auto* cell = second.data->find(s, c);
      if (cell == nullptr) continue;
      const auto& n = cell->counts;
      rows += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{:.3f},{}\n",
                          info_.anchor.epoch_millis_at(second.end_nanos), second.end_nanos, info_.stages[s],
                          info_.classes[c], n.planned, n.sent, n.ok, n.http_error_sum(), n.transport_sum(),
                          n.timeouts, n.in_flight, n.bytes_sent, n.bytes_received, lag_text,
                          static_cast<double>(second.end_nanos - second.start_nanos) / 1e6,
                          second.data->spin_nanos / 1000);
    }
  }
  if (!rows.empty()) file_.write(rows);
}

void EventStream::write(const json::object& event) {
  file_.write(compact(event) + "\n");
}

void EventStream::started(const record::RunInfo& info) {
  info_ = info;
  write({{"event", "started"},
         {"monotonicNanos", info.anchor.monotonic_nanos},
         {"epochMillis", info.anchor.epoch_millis}});
}

void EventStream::connected(const record::ConnectionStats& connections, std::int64_t monotonic_nanos) {
  const auto& all_open = connections.all_open_nanos;
  write(
      {{"event", "connected"},
       {"opened", connections.opened},
       {"refused", connections.refused()},
       {"allOpenMillis", all_open ? json::value(static_cast<double>(*all_open) / 1e6) : json::value(nullptr)},
       {"monotonicNanos", monotonic_nanos}});
}

void EventStream::stage_event(const char* event, std::size_t stage, std::int64_t monotonic_nanos) {
  write({{"event", event},
         {"name", info_.stages[stage]},
         {"kind", info_.stage_measured[stage] ? "measure" : "warmup"},
         {"index", stage},
         {"monotonicNanos", monotonic_nanos}});
}

void EventStream::stage_started(std::size_t stage, std::int64_t monotonic_nanos) {
  stage_event("stage-started", stage, monotonic_nanos);
}

void EventStream::stage_ended(std::size_t stage, std::int64_t monotonic_nanos) {
  stage_event("stage-ended", stage, monotonic_nanos);
}

void EventStream::second(const record::Second& second) {
  if (too_short_to_show(second)) return;
  const auto all = whole(second, info_);
  const auto shown = [&](double q) {
    return quantile_millis(quantile(all.latency, q, record::kSamplesAboveForCharts));
  };
  write({{"event", "progress"},
         {"second", second.number},
         {"stage", info_.stages[second.stage]},
         {"sent", all.counts.sent},
         {"ok", all.counts.ok},
         {"errors", all.counts.errors()},
         {"inFlight", all.counts.in_flight},
         {"p50Millis", shown(0.5)},
         {"p99Millis", shown(0.99)}});
}

void EventStream::done(const record::RunResult& result) {
  write(
      {{"event", "done"},
       {"status", record::name_of(result.status)},
       {"reason", result.reason.empty() ? json::value(nullptr) : json::value(json::string{result.reason})}});
}

void Fanout::started(const record::RunInfo& info) {
  for (auto& listener : listeners_) listener->started(info);
  if (const auto what = problem(); !what.empty()) throw std::runtime_error(what);
}
void Fanout::connected(const record::ConnectionStats& connections, std::int64_t monotonic_nanos) {
  for (auto& listener : listeners_) listener->connected(connections, monotonic_nanos);
}
void Fanout::stage_started(std::size_t stage, std::int64_t monotonic_nanos) {
  for (auto& listener : listeners_) listener->stage_started(stage, monotonic_nanos);
}
void Fanout::stage_ended(std::size_t stage, std::int64_t monotonic_nanos) {
  for (auto& listener : listeners_) listener->stage_ended(stage, monotonic_nanos);
}
void Fanout::second(const record::Second& second) {
  for (auto& listener : listeners_) listener->second(second);
}
void Fanout::done(const record::RunResult& result) {
  for (auto& listener : listeners_) listener->done(result);
}
std::string Fanout::problem() const {
  std::string all;
  for (const auto& listener : listeners_) {
    const auto what = listener->problem();
    if (what.empty()) continue;
    if (!all.empty()) all += "; ";
    all += what;
  }
  return all;
}

}  // namespace heddle::report
