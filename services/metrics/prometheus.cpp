// The text exposition format, version 0.0.4: a TYPE line before the samples of each name.
#include "services/metrics/registry.hpp"

#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace heddle::metrics {
namespace {

class Text {
 public:
  void family(std::string_view name, std::string_view type) { line("# TYPE {} {}\n", name, type); }

  void sample(std::string_view name, std::string_view labels, std::uint64_t value) {
    line("{}{{{}}} {}\n", name, labels, value);
  }

  void counter(std::string_view name, std::uint64_t value) { one(name, "counter", value); }
  void gauge(std::string_view name, std::uint64_t value) { one(name, "gauge", value); }

  // What nobody measures is absent, not 0.
  void counter(std::string_view name, const Gauges::Read& read) {
    if (read) counter(name, read());
  }
  void gauge(std::string_view name, const Gauges::Read& read) {
    if (read) gauge(name, read());
  }

  template <typename... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }

  [[nodiscard]] std::string take() const { return fmt::to_string(text_); }

 private:
  void one(std::string_view name, std::string_view type, std::uint64_t value) {
    family(name, type);
    line("{} {}\n", name, value);
  }

  fmt::memory_buffer text_;
};

// A sample for each kind of task; only the kind that this approach uses is ever other than 0.
void by_kind(Text& text, std::string_view name, std::string_view type, TaskKind kind, std::uint64_t value) {
  text.family(name, type);
  for (std::size_t i = 0; i < kTaskKindNames.size(); ++i) {
    const bool own = i == static_cast<std::size_t>(kind);
    text.sample(name, fmt::format("kind=\"{}\"", kTaskKindNames[i]), own ? value : 0);
  }
}

void write_tasks(Text& text, const Registry& registry) {
  const TaskKind kind = registry.kind();
  by_kind(text, "heddle_tasks_in_flight", "gauge", kind, registry.tasks_in_flight());
  by_kind(text, "heddle_tasks_in_flight_peak", "gauge", kind, registry.tasks_in_flight_peak());
  text.family("heddle_tasks_started_total", "counter");
  for (std::size_t i = 0; i < kTaskKindNames.size(); ++i) {
    text.sample("heddle_tasks_started_total", fmt::format("kind=\"{}\"", kTaskKindNames[i]),
                registry.tasks_started(static_cast<TaskKind>(i)));
  }
  text.counter("heddle_tasks_on_io_threads_total", registry.sum(&ShardCounters::tasks_on_io_threads));
  text.counter("heddle_tasks_on_pool_threads_total", registry.sum(&ShardCounters::tasks_on_pool_threads));
  text.counter("heddle_tasks_in_fiber_context_total", registry.sum(&ShardCounters::tasks_in_fiber_context));
}

void write_http(Text& text, const Registry& registry) {
  text.counter("heddle_requests_total", registry.sum(&ShardCounters::requests));
  text.family("heddle_responses_total", "counter");
  text.sample("heddle_responses_total", "class=\"2xx\"", registry.sum(&ShardCounters::responses_2xx));
  text.sample("heddle_responses_total", "class=\"4xx\"", registry.sum(&ShardCounters::responses_4xx));
  text.sample("heddle_responses_total", "class=\"5xx\"", registry.sum(&ShardCounters::responses_5xx));
}

void write_connections(Text& text, const Registry& registry) {
  std::vector<std::uint64_t> open;
  for (std::size_t i = 0; i < registry.io_threads(); ++i) open.push_back(registry.connections_open(i));
  text.gauge("heddle_connections_open", std::accumulate(open.begin(), open.end(), std::uint64_t{0}));
  text.counter("heddle_connections_accepted_total", registry.sum(&ShardCounters::connections_accepted));
  text.family("heddle_connections_open_by_io_thread", "gauge");
  for (std::size_t i = 0; i < open.size(); ++i) {
    text.sample("heddle_connections_open_by_io_thread", fmt::format("thread=\"{}\"", i), open[i]);
  }
}

void write_gauges(Text& text, const Gauges& gauges) {
  text.gauge("heddle_pool_threads", gauges.pool_threads);
  text.gauge("heddle_pool_in_use", gauges.pool_in_use);
  text.gauge("heddle_pool_waiting", gauges.pool_waiting);
  text.counter("heddle_cache_hits_total", gauges.cache_hits);
  text.counter("heddle_cache_misses_total", gauges.cache_misses);
  text.gauge("heddle_client_connections_open", gauges.client_connections_open);
  text.counter("heddle_client_connects_total", gauges.client_connects);
  text.gauge("heddle_client_pool_waiting", gauges.client_pool_waiting);
}

}  // namespace

std::string Registry::prometheus() const {
  observe_peak();
  Text text;
  text.family("heddle_info", "gauge");
  text.sample("heddle_info", fmt::format("approach=\"{}\",version=\"{}\"", approach_, version_), 1);
  text.gauge("heddle_io_threads", io_threads_);
  write_tasks(text, *this);
  write_http(text, *this);
  write_connections(text, *this);
  write_gauges(text, gauges_);
  const std::chrono::duration<double> uptime = std::chrono::steady_clock::now() - started_;
  text.family("heddle_uptime_seconds", "gauge");
  text.line("heddle_uptime_seconds {:.3f}\n", uptime.count());
  return text.take();
}

}  // namespace heddle::metrics
