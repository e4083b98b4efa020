#include "loadgen/report/load_json.hpp"

#include "loadgen/report/slo.hpp"
#include "loadgen/report/text.hpp"

#include <array>
#include <cstring>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace heddle::report {
namespace {

namespace json = boost::json;

constexpr std::array<std::pair<const char*, double>, 4> kPercentiles{
    {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}}};

double to_millis(std::int64_t nanos) {
  return static_cast<double>(nanos) / 1e6;
}

template <class T>
json::value or_null(const std::optional<T>& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

json::object distribution(const record::Distribution& d) {
  const bool any = d.answered.count() > 0;
  json::object out;
  out["min"] = any ? millis(d.answered.min()) : json::value(nullptr);
  std::string missing;
  for (const auto& [name, q] : kPercentiles) {
    out[name] = quantile_millis(quantile(d, q));
    if (out[name].is_null()) missing += (missing.empty() ? "" : ", ") + std::string{name};
  }
  out["max"] = quantile_millis(largest(d));
  // Of the answered ones only: a mean with unknown parts would be neither a value nor a limit.
  out["mean"] = any ? json::value(static_cast<double>(d.answered.sum()) /
                                  static_cast<double>(d.answered.count()) / 1000)
                    : json::value(nullptr);
  out["count"] = d.answered.count() + d.answered.overflow();
  out["atLeastCount"] = d.waiting.count() + d.waiting.overflow();
  out["overflowCount"] = d.answered.overflow();
  out["nullReason"] = missing.empty() ? json::value(nullptr)
                      : d.size() == 0
                          ? json::value("no samples")
                          : json::value(json::string{fmt::format("{}: fewer than {} samples lie above",
                                                                 missing, record::kSamplesAbove)});
  return out;
}

json::object micros(const record::Histogram& histogram) {
  json::object out;
  out["p50"] = or_null(quantile(histogram, 0.5));
  out["p99"] = or_null(quantile(histogram, 0.99));
  out["max"] = histogram.count() > 0 ? json::value(histogram.max()) : json::value(nullptr);
  out["count"] = histogram.count();
  return out;
}

json::object http_errors(const record::Counts& counts) {
  json::object out;
  for (std::size_t i = 1; i < counts.http_errors.size(); ++i) {
    // 4xx and 5xx always stand there, the others (an unexpected 2xx, a redirect) when they happened.
    if (counts.http_errors[i] > 0 || i >= 4) out[std::to_string(i) + "xx"] = counts.http_errors[i];
  }
  return out;
}

json::object transport_errors(const record::Counts& counts) {
  json::object out;
  for (std::size_t i = 0; i < record::kTransportErrors; ++i) {
    const auto error = static_cast<record::TransportError>(i);
    if (error != record::TransportError::other) out[record::name_of(error)] = counts.transport[i];
  }
  for (const auto& [code, count] : counts.other) {
    const char* name = strerrorname_np(code);
    out["other:" + (name == nullptr ? std::to_string(code) : std::string{name})] = count;
  }
  return out;
}

void put_cell(json::object& out, const record::Cell& cell) {
  const auto& counts = cell.counts;
  out["planned"] = counts.planned;
  out["sent"] = counts.sent;
  out["shed"] = counts.shed;
  out["unsent"] = counts.unsent;
  out["ok"] = counts.ok;
  out["okInTime"] = counts.ok_in_time;
  out["httpErrors"] = http_errors(counts);
  out["transportErrors"] = transport_errors(counts);
  out["timeouts"] = counts.timeouts;
  out["inFlight"] = counts.in_flight;
  out["bytesSent"] = counts.bytes_sent;
  out["bytesReceived"] = counts.bytes_received;
  out["latencyMillis"] = distribution(cell.latency);
  out["serviceMillis"] = distribution(cell.service);
  out["firstByteMillis"] = distribution(cell.first_byte);
}

json::object stage_object(const record::StageResult& stage, const record::RunInfo& info) {
  json::object out;
  out["name"] = stage.name;
  out["kind"] = stage.measured ? "measure" : "warmup";
  out["durationMillis"] = to_millis(stage.end_nanos - stage.start_nanos);
  out["startMonotonicNanos"] = stage.start_nanos;
  out["endMonotonicNanos"] = stage.end_nanos;
  put_cell(out, stage.total());
  json::array classes;
  for (std::size_t i = 0; i < stage.classes.size(); ++i) {
    json::object entry;
    entry["name"] = info.classes[i];
    put_cell(entry, stage.classes[i]);
    classes.push_back(std::move(entry));
  }
  out["classes"] = std::move(classes);
  return out;
}

json::value ceiling_object(const std::optional<record::Ceiling>& ceiling) {
  if (!ceiling) return nullptr;
  return {{"perSecondPerThread", ceiling->per_second_per_thread},
          {"sharePercent", 100 * ceiling->share},
          {"calibrated", ceiling->calibrated}};
}

json::value request_log_object(const std::optional<record::RequestRows>& rows) {
  if (!rows) return nullptr;
  return {{"file", rows->file}, {"rows", rows->written}, {"dropped", rows->dropped}};
}

json::object generator_object(const record::Generator& generator) {
  json::object out;
  out["verdict"] = record::name_of(generator.verdict);
  out["reason"] = generator.reason;
  out["lagMicros"] = micros(generator.lag);
  out["turnMicros"] = micros(generator.turns);
  out["usefulBusyPercent"] = 100 * generator.useful_busy_share;
  out["cpuSeconds"] = generator.cpu_seconds;
  out["ceiling"] = ceiling_object(generator.ceiling);
  json::array threads;
  for (const auto& thread : generator.threads) {
    json::object entry;
    entry["cpu"] = thread.cpu < 0 ? json::value(nullptr) : json::value(thread.cpu);
    entry["connections"] = thread.connections;
    entry["sent"] = thread.sent;
    entry["lagMicros"] = micros(thread.lag);
    entry["windowSeconds"] = thread.window_seconds;
    entry["usefulBusyPercent"] = 100 * thread.useful_share();
    entry["busySeconds"] = thread.busy_seconds;
    entry["cpuSeconds"] = thread.cpu_seconds;
    entry["spinSeconds"] = thread.spin_seconds;
    entry["spinWindowMicros"] = thread.spin_window_micros;
    entry["runDelaySeconds"] = thread.run_delay_seconds;
    threads.push_back(std::move(entry));
  }
  out["threads"] = std::move(threads);
  return out;
}

json::object connections_object(const record::ConnectionStats& stats, const record::RunInfo& info) {
  json::object out;
  out["targets"] = json::array(info.targets.begin(), info.targets.end());
  out["asked"] = stats.asked;
  out["opened"] = stats.opened;
  out["peak"] = stats.peak;
  out["lost"] = stats.lost;
  out["reopened"] = stats.reopened;
  out["refused"] = stats.refused();
  json::object errors;
  for (const auto& [name, count] : stats.errors) errors[name] = count;
  out["errors"] = std::move(errors);
  out["allOpenMillis"] =
      stats.all_open_nanos ? json::value(to_millis(*stats.all_open_nanos)) : json::value(nullptr);
  record::Distribution connect;
  connect.answered = stats.connect_time;
  out["connectMillis"] = distribution(connect);
  json::object sources;
  for (const auto& [source, of] : stats.by_source) {
    sources[source] = {{"asked", of.asked},
                       {"opened", of.opened},
                       {"peak", of.peak},
                       {"lost", of.lost},
                       {"reopened", of.reopened}};
  }
  out["bySource"] = std::move(sources);
  return out;
}

json::value littles_law_object(const std::optional<record::LittlesLaw>& law) {
  if (!law) return nullptr;
  return {{"meanInFlight", law->mean_in_flight},
          {"countedSeconds", law->counted_seconds},
          {"recordedSeconds", law->recorded_seconds}};
}

json::value throughput_object(const std::optional<record::Throughput>& throughput) {
  if (!throughput) return nullptr;
  const auto& offered = throughput->offered_per_second;
  const auto& cause = throughput->cause;
  return {{"offeredPerSecond", offered ? json::value(*offered) : json::value(nullptr)},
          {"sentPerSecond", throughput->sent_per_second},
          {"okPerSecond", throughput->ok_per_second},
          {"cause", cause.empty() ? json::value(nullptr) : json::value(json::string{cause})}};
}

json::object settings_object(const record::Settings& settings) {
  json::object out;
  out["threads"] = settings.threads;
  out["connectPerSecond"] = or_null(settings.connect_per_second);
  out["keepAlive"] = settings.keep_alive;
  out["requestsPerConnection"] = or_null(settings.requests_per_connection);
  out["whenBusy"] = settings.when_busy;
  out["requestTimeoutMillis"] = to_millis(settings.request_timeout);
  out["connectTimeoutMillis"] = to_millis(settings.connect_timeout);
  out["graceLimitMillis"] = to_millis(settings.grace);
  out["spinMicros"] =
      settings.spin ? json::value(static_cast<double>(*settings.spin) / 1e3) : json::value("auto");
  out["descriptorTables"] = settings.own_descriptor_tables ? "per-thread" : "shared";
  out["congestionControl"] = settings.congestion_control.empty()
                                 ? json::value(nullptr)
                                 : json::value(json::string{settings.congestion_control});
  return out;
}

}  // namespace

json::object load_json(const record::RunResult& result) {
  json::object out;
  out["schema"] = 1;
  out["name"] = result.info.name;
  out["status"] = record::name_of(result.status);
  out["reason"] = result.reason.empty() ? json::value(nullptr) : json::value(json::string{result.reason});
  out["seed"] = result.info.seed;
  out["closedLoop"] = result.info.closed_loop;
  out["settings"] = settings_object(result.info.settings);
  out["anchor"] = {{"epochMillis", result.info.anchor.epoch_millis},
                   {"monotonicNanos", result.info.anchor.monotonic_nanos}};
  out["generator"] = generator_object(result.generator);
  out["throughput"] = throughput_object(result.throughput);
  out["littlesLaw"] = littles_law_object(result.littles_law);
  out["connections"] = connections_object(result.connections, result.info);
  out["drainMillis"] =
      result.drain_nanos ? json::value(to_millis(*result.drain_nanos)) : json::value(nullptr);
  out["drainTimedOut"] = result.drain_timed_out;
  out["graceMillis"] = to_millis(result.grace_nanos);
  out["requestLog"] = request_log_object(result.request_rows);
  out["slo"] = slo_json(result.slo);
  json::array stages;
  for (const auto& stage : result.stages) stages.push_back(stage_object(stage, result.info));
  out["stages"] = std::move(stages);
  const auto window = result.window();
  out["window"] = window ? json::value(stage_object(*window, result.info)) : json::value(nullptr);
  return out;
}

}  // namespace heddle::report
