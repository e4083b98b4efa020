// A row for every request: the rings, the file, and whole runs in which each ending occurs.
#include "loadgen/record/request_log.hpp"

#include "loadgen/engine/run.hpp"
#include "loadgen/report/requests_csv.hpp"
#include "tests/loadgen/fake_server.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <sys/resource.h>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle {
namespace {

using heddle::testing::closed_port;
using heddle::testing::FakeServer;
using heddle::testing::kHello;
using heddle::testing::Seen;
using record::Outcome;
using record::RequestRecord;
using record::TransportError;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Peer = FakeServer::Peer;
using Then = FakeServer::Then;
using namespace std::chrono_literals;

RequestRecord numbered(std::int64_t number) {
  RequestRecord row;
  row.end_nanos = number;
  return row;
}

TEST(RequestLog, AFullRingDropsTheNewestAndCountsThem) {
  record::RequestLog log{2, 4};
  for (std::int64_t i = 0; i < 7; ++i) log.push(0, numbered(i));
  log.push(1, numbered(100));
  EXPECT_EQ(log.dropped(), 3);
  std::vector<RequestRecord> rows;
  EXPECT_EQ(log.take(rows), 5U);
  std::vector<std::int64_t> ends;
  for (const auto& row : rows) ends.push_back(row.end_nanos);
  EXPECT_THAT(ends, ElementsAre(0, 1, 2, 3, 100));
  log.push(0, numbered(8));
  rows.clear();
  EXPECT_EQ(log.take(rows), 1U);
  EXPECT_EQ(rows[0].end_nanos, 8);
  EXPECT_EQ(log.dropped(), 3);
}

TEST(RequestLog, LosesNothingUncountedBetweenThreads) {
  constexpr std::int64_t kRows = 200'000;
  record::RequestLog log{2, 64};
  const auto produce = [&log](std::size_t thread) {
    for (std::int64_t i = 0; i < kRows; ++i)
      log.push(thread, numbered(i * 2 + static_cast<std::int64_t>(thread)));
  };
  std::thread first{produce, 0};
  std::thread second{produce, 1};
  std::vector<RequestRecord> rows;
  while (static_cast<std::int64_t>(rows.size()) + log.dropped() < 2 * kRows) log.take(rows);
  first.join();
  second.join();
  log.take(rows);
  EXPECT_EQ(static_cast<std::int64_t>(rows.size()) + log.dropped(), 2 * kRows);
  std::array<std::int64_t, 2> last{-1, -1};
  for (const auto& row : rows) {
    auto& before = last[static_cast<std::size_t>(row.end_nanos % 2)];
    ASSERT_LT(before, row.end_nanos);
    before = row.end_nanos;
  }
}

class RequestsFile : public ::testing::Test {
 protected:
  RequestsFile() {
    engine::block_stop_signals();
    std::string name = std::filesystem::temp_directory_path() / "heddle-rows-XXXXXX";
    folder_ = mkdtemp(name.data());
    info_.anchor = {1'700'000'000'000, 5'000'000'000};
    info_.classes = {"get", "a \"b\", c"};
    info_.stages = {"warm", "load, all"};
  }
  ~RequestsFile() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::filesystem::path file() const { return folder_ / "rows.csv"; }
  [[nodiscard]] std::vector<std::string> lines() const {
    std::ifstream in{file()};
    std::vector<std::string> all;
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }
  // How often each outcome stands in the file, header apart.
  [[nodiscard]] std::map<std::string, std::int64_t> outcomes() const {
    std::map<std::string, std::int64_t> counts;
    const auto all = lines();
    for (std::size_t i = 1; i < all.size(); ++i) {
      std::istringstream line{all[i]};
      std::string field;
      for (int column = 0; column < 5; ++column) std::getline(line, field, ',');
      ++counts[field];
    }
    return counts;
  }

  // Runs the plan with a row per request, and expects one for each.
  record::Counts run(const plan::Plan& plan) {
    auto setup = engine::make_setup(plan, std::vector<std::string>(plan.requests.size()));
    report::RequestsCsv csv{file(), setup.threads};
    setup.request_log = &csv.log();
    const auto result = engine::run_load(setup, engine::describe(setup), csv);
    EXPECT_EQ(csv.problem(), "");
    record::Counts counts;
    for (const auto& stage : result.stages) {
      const auto all = stage.total().counts;
      EXPECT_EQ(record::imbalance(all), "");
      counts.merge(all);
      counts.in_flight += all.in_flight;
    }
    const auto rows = csv.rows();
    EXPECT_EQ(rows.written + rows.dropped, counts.planned);
    EXPECT_EQ(rows.dropped, 0);
    EXPECT_EQ(static_cast<std::int64_t>(lines().size()), counts.planned + 1);
    auto found = outcomes();
    EXPECT_EQ(found["ok"], counts.ok);
    EXPECT_EQ(found["httpError"], counts.http_error_sum());
    EXPECT_EQ(found["timeout"], counts.timeouts);
    EXPECT_EQ(found["inFlight"], counts.in_flight);
    EXPECT_EQ(found["shed"], counts.shed);
    EXPECT_EQ(found["unsent"], counts.unsent);
    for (std::size_t i = 0; i < record::kTransportErrors; ++i) {
      const std::string name{record::name_of(static_cast<TransportError>(i))};
      EXPECT_EQ(found[name], counts.transport[i]) << name;
    }
    return counts;
  }

  std::filesystem::path folder_;
  record::RunInfo info_;
};

plan::Plan plan_for(const std::vector<std::string>& urls, plan::Arrivals arrivals, std::int64_t connections) {
  plan::Plan plan;
  for (const auto& url : urls) plan.targets.push_back(plan::parse_url(url));
  plan.connections = connections;
  plan.stages = {{"measure", plan::StageKind::measure, 600 * plan::kMillisecond, arrivals}};
  plan.requests.resize(1);
  plan.requests[0].name = "get";
  plan.grace = 200 * plan::kMillisecond;
  return plan;
}

TEST(CsvField, IsQuotedOnlyWhenItMust) {
  EXPECT_EQ(report::csv_field("plain text"), "plain text");
  EXPECT_EQ(report::csv_field(""), "");
  EXPECT_EQ(report::csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(report::csv_field("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(report::csv_field("two\nlines"), "\"two\nlines\"");
}

TEST_F(RequestsFile, HoldsOneRowForEachEndingAndNothingWhereNothingWasMeasured) {
  report::RequestsCsv csv{file(), 1};
  csv.started(info_);
  const auto push = [&](Outcome outcome, std::int64_t service, std::uint16_t status,
                        record::Failure failure = {}) {
    // 2 s after the anchor; 1.5 ms after it was due.
    csv.log().push(0, {7'000'000'000, 1'500'499, service, 1, 1, status, outcome, failure});
  };
  push(Outcome::ok, 1'000'500, 200);
  push(Outcome::http_error, 1000, 503);
  push(Outcome::transport_error, 1000, 0, {TransportError::reset, ECONNRESET});
  push(Outcome::transport_error, -1, 0, {TransportError::refused, ECONNREFUSED});
  push(Outcome::transport_error, 1000, 0, {TransportError::truncated, 0});
  push(Outcome::timeout, 1000, 0);
  push(Outcome::in_flight, 1000, 0);
  push(Outcome::shed, -1, 0);
  push(Outcome::unsent, -1, 0);
  csv.done({});
  const std::string start = R"(1700000002000,7000000000,"load, all","a ""b"", c",)";
  EXPECT_THAT(
      lines(),
      ElementsAre(
          "end_epoch_millis,monotonic_nanos,stage,request,outcome,latency_micros,service_micros,status,error",
          start + "ok,1500,1001,200,", start + "httpError,1500,1,503,",
          start + "reset,1500,1,,Connection reset by peer", start + "refused,1500,,,Connection refused",
          start + "truncated,1500,1,,", start + "timeout,1500,1,,", start + "inFlight,1500,1,,",
          start + "shed,1500,,,", start + "unsent,1500,,,"));
  EXPECT_EQ(csv.rows().written, 9);
  EXPECT_EQ(csv.rows().dropped, 0);
  EXPECT_EQ(csv.rows().file, file().string());
}

TEST_F(RequestsFile, RowsThatFindNoRoomAreCounted) {
  report::RequestsCsv csv{file(), 1, 8};
  for (std::int64_t i = 0; i < 100; ++i) csv.log().push(0, numbered(i));  // nobody takes them yet
  csv.started(info_);
  csv.done({});
  EXPECT_EQ(csv.rows().written, 8);
  EXPECT_EQ(csv.rows().dropped, 92);
  EXPECT_EQ(lines().size(), 9U);
  EXPECT_EQ(csv.problem(), "");
}

TEST_F(RequestsFile, AFileThatCannotBeOpenedIsFoundAtOnce) {
  try {
    report::RequestsCsv{folder_ / "none/rows.csv", 1};
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("none/rows.csv"));
  }
  report::RequestsCsv full{"/dev/full", 1};
  full.started(info_);
  EXPECT_THAT(full.problem(), HasSubstr("No space left"));
}

// As a full disk: the kernel takes no more than 4 KiB.
TEST_F(RequestsFile, ADiskThatFillsUpEndsTheFileNotTheRun) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  report::RequestsCsv csv{file(), 1};
  csv.started(info_);
  setrlimit(RLIMIT_FSIZE, &small);
  for (std::int64_t i = 0; i < 1000; ++i) csv.log().push(0, numbered(i));
  csv.done({});
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_DFL);
  const auto rows = csv.rows();
  EXPECT_EQ(rows.written + rows.dropped, 1000);
  EXPECT_GT(rows.dropped, 0);
  EXPECT_THAT(csv.problem(), HasSubstr("cannot write " + file().string()));
  EXPECT_THAT(csv.problem(), HasSubstr(std::to_string(rows.dropped) + " rows are missing"));
}

// ---- whole runs ----------------------------------------------------------------------------------------

TEST_F(RequestsFile, ARunOverEveryKindOfAnswerHasARowForEachRequest) {
  FakeServer server{[](const Peer& peer, const Seen& seen) {
    switch (seen.number % 8) {
      case 1:
        peer.write("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        return Then::keep;
      case 2:
        peer.write("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n");
        return Then::keep;
      case 3:
        peer.write("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc");  // not the expected size
        return Then::keep;
      case 4:
        if (seen.connection % 4 == 0) peer.pause(400ms);  // beyond the request's limit
        if (seen.connection % 4 == 1) return Then::reset;
        if (seen.connection % 4 == 2) return Then::close;
        if (seen.connection % 4 == 3) peer.write("no HTTP\r\n\r\n");
        return Then::close;
      default:
        peer.write(kHello);
        return Then::keep;
    }
  }};
  auto plan = plan_for({server.url()}, plan::ConstantRate{300}, 8);
  plan.threads = 2;
  plan.stages.insert(plan.stages.begin(),
                     {"warm", plan::StageKind::warmup, 200 * plan::kMillisecond, plan::ConstantRate{100}});
  plan.request_timeout = 150 * plan::kMillisecond;
  plan.requests[0].expect_body_bytes = 5;
  const auto counts = run(plan);
  EXPECT_EQ(counts.planned, 200);
  EXPECT_GT(counts.http_errors[4], 0);
  EXPECT_GT(counts.http_errors[5], 0);
  EXPECT_GT(counts.transport_sum(), 0);
  EXPECT_GT(counts.timeouts, 0);
  const auto all = lines();
  const auto of = [&](const std::string& outcome, const std::string& end) {
    return std::count_if(all.begin(), all.end(), [&](const std::string& line) {
      return line.find("," + outcome + ",") != std::string::npos && line.ends_with(end);
    });
  };
  EXPECT_EQ(of("httpError", ",404,"), counts.http_errors[4]);
  EXPECT_EQ(of("httpError", ",500,"), counts.http_errors[5]);
  EXPECT_EQ(of("ok", ",200,"), counts.ok);
  EXPECT_THAT(all[1], HasSubstr(",warm,get,"));
  EXPECT_THAT(all.back(), HasSubstr(",measure,get,"));
}

TEST_F(RequestsFile, WhatIsShedHasARow) {
  FakeServer server{[](const Peer& peer, const Seen& seen) {
    if (seen.number == 5) peer.pause(200ms);
    peer.write(kHello);
    return Then::keep;
  }};
  auto plan = plan_for({server.url()}, plan::ConstantRate{200}, 1);
  plan.when_busy = plan::WhenBusy::shed;
  EXPECT_GT(run(plan).shed, 0);
}

TEST_F(RequestsFile, WhatIsInFlightOrNeverSentAtTheEndHasARow) {
  FakeServer server{[](const Peer& peer, const Seen&) {
    peer.hang();
    return Then::close;
  }};
  const auto counts = run(plan_for({server.url()}, plan::ConstantRate{100}, 3));
  EXPECT_EQ(counts.in_flight, 3);
  EXPECT_EQ(counts.unsent, 57);
}

// Two users: one is served, nobody listens where the other one connects.
TEST_F(RequestsFile, AUserWhoseConnectionFailsHasARowForEachAttempt) {
  FakeServer server{[](const Peer& peer, const Seen&) {
    peer.pause(10ms);
    peer.write(kHello);
    return Then::keep;
  }};
  const auto nobody = "http://127.0.0.1:" + std::to_string(closed_port());
  auto plan = plan_for({server.url(), nobody}, plan::Users{2}, 2);
  plan.think = {plan::ThinkKind::constant, 5 * plan::kMillisecond, 0};
  const auto counts = run(plan);
  EXPECT_GT(counts.ok, 0);
  EXPECT_GT(counts.transport[static_cast<std::size_t>(TransportError::refused)], 0);
  const auto all = lines();
  const auto refused = std::find_if(all.begin(), all.end(), [](const std::string& line) {
    return line.find(",refused,") != std::string::npos;
  });
  ASSERT_NE(refused, all.end());
  EXPECT_TRUE(refused->ends_with(",,,Connection refused")) << *refused;  // never on a wire: no service time
}

}  // namespace
}  // namespace heddle
