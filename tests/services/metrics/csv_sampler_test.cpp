#include "services/metrics/csv_sampler.hpp"

#include "tests/services/metrics/support.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <signal.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::metrics {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

constexpr std::string_view kHeader =
    "epoch_millis,monotonic_nanos,cpu_user_micros,cpu_system_micros,rss_bytes,heap_allocated_bytes,"
    "allocations,"
    "threads,tasks_in_flight,connections_open,connections_accepted,connections_per_io_thread,requests,"
    "responses_4xx,responses_5xx,cache_hits,cache_misses,pool_in_use,pool_waiting,voluntary_switches,"
    "involuntary_switches,minor_faults,major_faults";

class CsvSamplerTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  // The row's fields by column name.
  std::map<std::string, std::string> row(std::size_t index) const {
    const auto lines = test::lines_of(path_);
    const auto names = test::split(lines.at(0), ',');
    const auto fields = test::split(lines.at(index + 1), ',');
    EXPECT_THAT(fields, SizeIs(names.size()));
    std::map<std::string, std::string> row;
    for (std::size_t i = 0; i < fields.size(); ++i) row[names[i]] = fields[i];
    return row;
  }

  std::string path_ = std::filesystem::temp_directory_path() /
                      ("heddle-csv-" + std::to_string(getpid()) + "-" +
                       testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv");
  Registry registry_{"fibers-restinio", "0.1.0", TaskKind::fiber, 3};
};

TEST_F(CsvSamplerTest, HeaderIsThereBeforeItStarts) {
  const CsvSampler sampler(registry_, path_);
  const auto lines = test::lines_of(path_);
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0], kHeader);
}

TEST_F(CsvSamplerTest, RowsAtStartAndAtStop) {
  registry_.shard(0).requests = 5;
  CsvSampler sampler(registry_, path_);
  sampler.start();
  while (test::lines_of(path_).size() < 2) std::this_thread::yield();
  registry_.shard(0).requests = 9;
  sampler.stop();
  sampler.stop();
  const std::size_t rows = test::lines_of(path_).size() - 1;
  ASSERT_GE(rows, 2U);
  EXPECT_EQ(row(0)["requests"], "5");
  EXPECT_EQ(row(rows - 1)["requests"], "9");
  EXPECT_LT(std::stoll(row(0)["monotonic_nanos"]), std::stoll(row(rows - 1)["monotonic_nanos"]));
}

TEST_F(CsvSamplerTest, EveryColumnHasItsOwnValue) {
  registry_.set_gauges({.cache_hits = [] { return 21; },
                        .cache_misses = [] { return 22; },
                        .pool_threads = {},
                        .pool_in_use = [] { return 23; },
                        .pool_waiting = [] { return 24; },
                        .client_connections_open = {},
                        .client_connects = {},
                        .client_pool_waiting = {}});
  registry_.shard(0).connections_accepted = 7;
  registry_.shard(0).connections_closed = 3;
  registry_.shard(2).connections_accepted = 2;
  registry_.shard(1).requests = 31;
  registry_.shard(1).responses_4xx = 32;
  registry_.shard(1).responses_5xx = 33;
  registry_.shard(1).tasks_started = 40;
  registry_.shard(1).tasks_finished = 6;
  CsvSampler sampler(registry_, path_);
  sampler.start();
  sampler.stop();
  auto fields = row(0);
  EXPECT_EQ(fields["connections_open"], "6");
  EXPECT_EQ(fields["connections_accepted"], "9");
  EXPECT_EQ(fields["connections_per_io_thread"], "4|0|2");
  EXPECT_EQ(fields["requests"], "31");
  EXPECT_EQ(fields["responses_4xx"], "32");
  EXPECT_EQ(fields["responses_5xx"], "33");
  EXPECT_EQ(fields["tasks_in_flight"], "34");
  EXPECT_EQ(fields["cache_hits"], "21");
  EXPECT_EQ(fields["cache_misses"], "22");
  EXPECT_EQ(fields["pool_in_use"], "23");
  EXPECT_EQ(fields["pool_waiting"], "24");
  EXPECT_GE(std::stoll(fields["threads"]), 2);
  EXPECT_GT(std::stoll(fields["rss_bytes"]), 1'000'000);
  EXPECT_GT(std::stoll(fields["heap_allocated_bytes"]), 1000);
  EXPECT_LT(std::stoll(fields["heap_allocated_bytes"]), std::stoll(fields["rss_bytes"]));
}

TEST_F(CsvSamplerTest, WhatNobodyMeasuresIsEmpty) {
  CsvSampler sampler(registry_, path_);
  sampler.start();
  sampler.stop();
  auto fields = row(0);
  EXPECT_EQ(fields["cache_hits"], "");
  EXPECT_EQ(fields["pool_waiting"], "");
  EXPECT_EQ(fields["requests"], "0");
}

TEST_F(CsvSamplerTest, ReplacesAnEarlierFile) {
  { CsvSampler(registry_, path_).start(); }
  { const CsvSampler sampler(registry_, path_); }
  EXPECT_THAT(test::lines_of(path_), SizeIs(1));
}

TEST_F(CsvSamplerTest, LooksForPeaksByItself) {
  CsvSampler sampler(registry_, path_);
  sampler.start();
  registry_.shard(0).tasks_started = 50;
  while (registry_.tasks_in_flight_peak() < 50) std::this_thread::yield();
  registry_.shard(0).tasks_finished = 50;
  EXPECT_THAT(registry_.prometheus(), HasSubstr("heddle_tasks_in_flight_peak{kind=\"fiber\"} 50\n"));
}

// The signals that each thread of this process blocks, as the kernel sees them: "SigBlk: <hex mask>".
std::vector<std::uint64_t> blocked_signals() {
  std::vector<std::uint64_t> masks;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    for (const auto& line : test::lines_of(task.path() / "status")) {
      if (line.starts_with("SigBlk:")) masks.push_back(std::stoull(line.substr(7), nullptr, 16));
    }
  }
  return masks;
}

TEST_F(CsvSamplerTest, SignalsAreForOtherThreads) {
  constexpr std::uint64_t kTerm = 1U << (SIGTERM - 1U);
  const auto threads_that_block_it = [] {
    return std::ranges::count_if(blocked_signals(), [](std::uint64_t mask) { return (mask & kTerm) != 0; });
  };
  const auto before = threads_that_block_it();
  CsvSampler sampler(registry_, path_);
  sampler.start();
  EXPECT_EQ(threads_that_block_it(), before + 1) << "the sampler's, and the caller's mask stays as it was";
}

TEST(CsvSampler, NamesThePathAndTheReason) {
  const Registry registry("a", "1", TaskKind::fiber, 1);
  try {
    const CsvSampler sampler(registry, "/nonexistent/service.csv");
    FAIL() << "opened a file in a folder that does not exist";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("/nonexistent/service.csv"), HasSubstr("No such file")));
  }
}

TEST(CsvSampler, AFullDiskIsSeenAtOnce) {
  const Registry registry("a", "1", TaskKind::fiber, 1);
  EXPECT_THROW(CsvSampler(registry, "/dev/full"), std::runtime_error);
}

}  // namespace
}  // namespace heddle::metrics
