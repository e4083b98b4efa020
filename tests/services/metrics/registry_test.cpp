#include "services/metrics/registry.hpp"

#include "tests/services/metrics/support.hpp"

#include <regex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::metrics {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Registry, SumsOverIoThreads) {
  Registry registry("a", "1", TaskKind::fiber, 3);
  for (std::size_t i = 0; i < 3; ++i) registry.shard(i).requests += i + 1;
  EXPECT_EQ(registry.sum(&ShardCounters::requests), 6U);
}

TEST(Registry, InFlightIsStartedWithoutFinishedEverywhere) {
  Registry registry("a", "1", TaskKind::fiber, 2);
  registry.shard(0).tasks_started = 5;
  registry.shard(1).tasks_finished = 2;  // a pool thread may count on another shard
  EXPECT_EQ(registry.tasks_in_flight(), 3U);
}

TEST(Registry, DifferencesNeverGoBelowZero) {
  Registry registry("a", "1", TaskKind::fiber, 1);
  registry.shard(0).tasks_finished = 1;
  registry.shard(0).connections_closed = 1;
  EXPECT_EQ(registry.tasks_in_flight(), 0U);
  EXPECT_EQ(registry.connections_open(0), 0U);
}

TEST(Registry, PeakStaysWhenTasksEnd) {
  Registry registry("a", "1", TaskKind::coroutine, 1);
  registry.shard(0).tasks_started = 7;
  registry.observe_peak();
  registry.shard(0).tasks_finished = 6;
  registry.observe_peak();
  const std::string text = registry.prometheus();
  EXPECT_THAT(text, HasSubstr("heddle_tasks_in_flight_peak{kind=\"coroutine\"} 7\n"));
  EXPECT_THAT(text, HasSubstr("heddle_tasks_in_flight{kind=\"coroutine\"} 1\n"));
}

TEST(Registry, NeedsAnIoThread) {
  EXPECT_THROW(Registry("a", "1", TaskKind::fiber, 0), std::invalid_argument);
}

TEST(Registry, WritersAtOnceLoseNothing) {
  Registry registry("a", "1", TaskKind::thread, 2);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10'000; ++i) registry.shard(0).requests.fetch_add(1, std::memory_order_relaxed);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(registry.sum(&ShardCounters::requests), 40'000U);
}

// One golden text but for the uptime.
TEST(Prometheus, WholeText) {
  Registry registry("fibers-restinio", "0.1.0", TaskKind::fiber, 2);
  registry.set_gauges({.cache_hits = [] { return 11; },
                       .cache_misses = [] { return 12; },
                       .pool_threads = [] { return 13; },
                       .pool_in_use = [] { return 14; },
                       .pool_waiting = [] { return 15; },
                       .client_connections_open = [] { return 16; },
                       .client_connects = [] { return 17; },
                       .client_pool_waiting = [] { return 18; }});
  ShardCounters& first = registry.shard(0);
  first.connections_accepted = 9;
  first.connections_closed = 4;
  first.requests = 100;
  first.responses_2xx = 90;
  first.responses_4xx = 6;
  first.responses_5xx = 1;
  first.tasks_started = 98;
  first.tasks_started_by_kind[static_cast<std::size_t>(TaskKind::fiber)] = 97;
  first.tasks_started_by_kind[static_cast<std::size_t>(TaskKind::callback)] = 1;
  first.tasks_finished = 95;
  first.tasks_on_io_threads = 97;
  first.tasks_on_pool_threads = 1;
  first.tasks_in_fiber_context = 96;
  registry.shard(1).connections_accepted = 3;
  const std::string text =
      std::regex_replace(registry.prometheus(), std::regex("heddle_uptime_seconds [0-9]+\\.[0-9]{3}\n$"),
                         "heddle_uptime_seconds T\n");
  EXPECT_EQ(text, R"(# TYPE heddle_info gauge
heddle_info{approach="fibers-restinio",version="0.1.0"} 1
# TYPE heddle_io_threads gauge
heddle_io_threads 2
# TYPE heddle_tasks_in_flight gauge
heddle_tasks_in_flight{kind="thread"} 0
heddle_tasks_in_flight{kind="fiber"} 3
heddle_tasks_in_flight{kind="callback"} 0
heddle_tasks_in_flight{kind="coroutine"} 0
# TYPE heddle_tasks_in_flight_peak gauge
heddle_tasks_in_flight_peak{kind="thread"} 0
heddle_tasks_in_flight_peak{kind="fiber"} 3
heddle_tasks_in_flight_peak{kind="callback"} 0
heddle_tasks_in_flight_peak{kind="coroutine"} 0
# TYPE heddle_tasks_started_total counter
heddle_tasks_started_total{kind="thread"} 0
heddle_tasks_started_total{kind="fiber"} 97
heddle_tasks_started_total{kind="callback"} 1
heddle_tasks_started_total{kind="coroutine"} 0
# TYPE heddle_tasks_on_io_threads_total counter
heddle_tasks_on_io_threads_total 97
# TYPE heddle_tasks_on_pool_threads_total counter
heddle_tasks_on_pool_threads_total 1
# TYPE heddle_tasks_in_fiber_context_total counter
heddle_tasks_in_fiber_context_total 96
# TYPE heddle_requests_total counter
heddle_requests_total 100
# TYPE heddle_responses_total counter
heddle_responses_total{class="2xx"} 90
heddle_responses_total{class="4xx"} 6
heddle_responses_total{class="5xx"} 1
# TYPE heddle_connections_open gauge
heddle_connections_open 8
# TYPE heddle_connections_accepted_total counter
heddle_connections_accepted_total 12
# TYPE heddle_connections_open_by_io_thread gauge
heddle_connections_open_by_io_thread{thread="0"} 5
heddle_connections_open_by_io_thread{thread="1"} 3
# TYPE heddle_pool_threads gauge
heddle_pool_threads 13
# TYPE heddle_pool_in_use gauge
heddle_pool_in_use 14
# TYPE heddle_pool_waiting gauge
heddle_pool_waiting 15
# TYPE heddle_cache_hits_total counter
heddle_cache_hits_total 11
# TYPE heddle_cache_misses_total counter
heddle_cache_misses_total 12
# TYPE heddle_client_connections_open gauge
heddle_client_connections_open 16
# TYPE heddle_client_connects_total counter
heddle_client_connects_total 17
# TYPE heddle_client_pool_waiting gauge
heddle_client_pool_waiting 18
# TYPE heddle_uptime_seconds gauge
heddle_uptime_seconds T
)");
}

TEST(Prometheus, WhatNobodyMeasuresIsAbsent) {
  const Registry registry("a", "1", TaskKind::callback, 1);
  EXPECT_THAT(registry.prometheus(), Not(HasSubstr("cache")));
  EXPECT_THAT(registry.prometheus(), Not(HasSubstr("client")));
  EXPECT_THAT(registry.prometheus(), Not(HasSubstr("heddle_pool_")));
}

// Every line is a comment or "name{labels} value" of the exposition format.
TEST(Prometheus, EveryLineHasTheFormat) {
  const Registry registry("a", "1", TaskKind::callback, 1);
  const std::regex sample(R"re([a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9]+(\.[0-9]+)?)re");
  auto lines = test::split(registry.prometheus(), '\n');
  EXPECT_EQ(lines.back(), "") << "the text ends with a line feed";
  lines.pop_back();
  for (const auto& line : lines) {
    EXPECT_TRUE(line.starts_with("# TYPE ") || std::regex_match(line, sample)) << line;
  }
}

}  // namespace
}  // namespace heddle::metrics
