// Faults that other load generators are known for, in the engine: known-faults.csv names the test for each.
#include "loadgen/engine/clock.hpp"
#include "loadgen/report/load_json.hpp"
#include "tests/loadgen/engine_run.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::engine {
namespace {

using heddle::testing::counts_of;
using heddle::testing::FakeServer;
using heddle::testing::FullServer;
using heddle::testing::hello;
using heddle::testing::kHello;
using heddle::testing::kShort;
using heddle::testing::Listener;
using heddle::testing::of;
using heddle::testing::plan_for;
using heddle::testing::run;
using heddle::testing::run_as_it_is;
using heddle::testing::Seen;
using Peer = FakeServer::Peer;
using Then = FakeServer::Then;
using record::TransportError;
using namespace std::chrono_literals;

// Much more than a busy machine needs, much less than a run that hangs.
constexpr Nanos kSlack = 5 * plan::kSecond;

// ---- rate and schedule ---------------------------------------------------------------------------------

TEST(Rate, TheCountIsTheSameForAnyNumberOfThreads) {
  FakeServer server{hello};
  for (std::int64_t threads = 1; threads <= 8; ++threads) {
    auto plan = plan_for(server.url(), plan::ConstantRate{335}, 200 * plan::kMillisecond, 16);
    plan.threads = threads;
    const auto counts = counts_of(run(plan));
    EXPECT_EQ(counts.planned, 67) << threads;
    EXPECT_EQ(counts.ok, 67) << threads;
  }
}

TEST(Rate, IsThatOfAllThreadsAndConnectionsTogether) {
  FakeServer server{hello};
  for (const std::int64_t connections : {1, 50}) {
    auto plan = plan_for(server.url(), plan::ConstantRate{100}, kShort, connections);
    plan.threads = 4;
    const auto result = run(plan);
    EXPECT_EQ(counts_of(result).planned, 50);
    EXPECT_EQ(counts_of(result).ok, 50);
    ASSERT_TRUE(result.throughput->offered_per_second);
    EXPECT_DOUBLE_EQ(*result.throughput->offered_per_second, 100);
  }
}

TEST(Rate, HalfARequestPerSecondOverEightThreads) {
  FakeServer server{hello};
  auto plan = plan_for(server.url(), plan::ConstantRate{0.5}, kShort, 8);
  plan.stages[0].duration = 2'100 * plan::kMillisecond;
  plan.threads = 8;
  EXPECT_EQ(counts_of(run(plan)).ok, 1);
}

TEST(Rate, TheFirstRequestsGoOutOneByOneOnEachConnectionInTurn) {
  FakeServer server{hello};
  auto plan = plan_for(server.url(), plan::ConstantRate{20}, kShort, 10);
  plan.request_timeout = 2 * plan::kSecond;
  const auto counts = counts_of(run(plan));
  EXPECT_EQ(counts.ok, 10);
  EXPECT_EQ(counts.timeouts, 0);
  std::vector<int> used;
  for (const auto& seen : server.seen()) used.push_back(seen.connection);
  std::sort(used.begin(), used.end());
  EXPECT_THAT(used, ::testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
}

// Other tools squeeze the same requests into a burst that grows with the number of threads: 23 ms became
// 316 ms. The server here answers at once, so half of all requests take far less than 100 ms anywhere.
TEST(Rate, LatencyDoesNotDependOnThreads) {
  FakeServer server{hello};
  for (const std::int64_t threads : {1, 4}) {
    auto plan = plan_for(server.url(), plan::ConstantRate{100}, 600 * plan::kMillisecond, 100);
    plan.threads = threads;
    const auto window = run(plan).window()->total();
    EXPECT_EQ(window.counts.ok, 60);
    EXPECT_LT(quantile(window.latency, 0.5, 1)->micros, 100'000) << threads;
  }
}

// A million a second over eight connections to this server: most of it cannot be sent.
TEST(Rate, AskingForFarTooMuchSaturatesAndDoesNotCollapse) {
  FakeServer server{hello};
  const auto most = counts_of(run(plan_for(server.url(), plan::Users{8}, kShort, 8))).ok;
  const auto begin = monotonic_now();
  const auto result = run(plan_for(server.url(), plan::ConstantRate{1'000'000}, kShort, 8));
  EXPECT_LT(monotonic_now() - begin, kShort + 300 * plan::kMillisecond + kSlack);
  const auto counts = counts_of(result);
  EXPECT_EQ(counts.planned, 500'000);
  EXPECT_EQ(counts.planned, counts.sent + counts.shed + counts.unsent);
  EXPECT_GT(counts.unsent, 0);
  EXPECT_GT(counts.ok, most / 5);
  EXPECT_NE(result.throughput->cause, "");
}

TEST(Rate, ManyThreadsStartTogetherAndInTime) {
  FakeServer server{hello};
  auto plan = plan_for(server.url(), plan::ConstantRate{640}, kShort, 64);
  plan.threads = 32;
  Listener listener;
  const auto result = run_as_it_is(plan, listener);
  const auto counts = counts_of(result);
  EXPECT_EQ(counts.planned, 320);
  EXPECT_EQ(record::imbalance(counts), "");
  ASSERT_EQ(result.generator.threads.size(), 32U);
  // Each thread took part in the window; on a busy machine the last requests of some stay unsent.
  std::int64_t sent = 0;
  for (const auto& thread : result.generator.threads) {
    EXPECT_GE(thread.sent, 3);
    EXPECT_LE(thread.sent, 10);
    sent += thread.sent;
  }
  EXPECT_EQ(sent, counts.sent);
}

TEST(Rate, TheDelayOfEachSendIsRecordedAndExported) {
  FakeServer server{hello};
  const auto result = run(plan_for(server.url(), plan::ConstantRate{400}, kShort, 4));
  EXPECT_EQ(result.generator.lag.count() + result.generator.lag.overflow(), 200);
  const auto lag = report::load_json(result).at("generator").at("lagMicros");
  EXPECT_TRUE(lag.at("p50").is_number());
  EXPECT_TRUE(lag.at("max").is_number());
}

// ---- time ----------------------------------------------------------------------------------------------

TEST(Latency, NothingIsFilledIn) {
  std::atomic<bool> stalled{false};
  FakeServer server{[&](const Peer& peer, const Seen& seen) {
    if (seen.number == 20 && !stalled.exchange(true)) peer.pause(200ms);
    peer.write(kHello);
    return Then::keep;
  }};
  const auto window = run(plan_for(server.url(), plan::ConstantRate{200}, kShort, 1)).window()->total();
  EXPECT_EQ(window.latency.size(), 100);
  EXPECT_EQ(window.service.size(), 100);
  EXPECT_EQ(window.latency.answered.count(), window.counts.ok);
}

TEST(Latency, NoRequestIsSentBeforeTheLastOneOnItsConnectionWasAnswered) {
  FakeServer server{[](const Peer& peer, const Seen&) {
    peer.pause(5ms);
    peer.write(kHello);
    return Then::keep;
  }};
  const auto counts = counts_of(run(plan_for(server.url(), plan::ConstantRate{400}, kShort, 2)));
  EXPECT_EQ(counts.ok + counts.in_flight + counts.unsent, 200);
  for (const auto& seen : server.seen()) EXPECT_EQ(seen.behind, 0U);
}

TEST(Latency, ConnectAndFirstByteStandApart) {
  FakeServer server{[](const Peer& peer, const Seen&) {
    peer.write(std::string_view{kHello}.substr(0, 20));
    peer.pause(60ms);
    peer.write(std::string_view{kHello}.substr(20));
    return Then::keep;
  }};
  const auto result = run(plan_for(server.url(), plan::ConstantRate{40}, kShort, 8));
  const auto window = result.window()->total();
  EXPECT_EQ(result.connections.connect_time.count(), 8);
  EXPECT_EQ(window.first_byte.answered.count(), 20);
  // The rest of the answer came 60 ms behind its first byte.
  EXPECT_GE(window.service.answered.min(), 60'000);
  EXPECT_LT(window.first_byte.answered.min(), window.service.answered.min() - 50'000);
}

TEST(Latency, HeadAndBodyLeaveInOneWriteWithoutDelay) {
  FakeServer server{hello};
  auto plan = plan_for(server.url(), plan::ConstantRate{40}, kShort, 2);
  plan.requests[0].method = "POST";
  const std::string body(1'000, 'b');
  EXPECT_EQ(counts_of(run(plan, {body})).ok, 20);
  for (const auto& seen : server.seen()) {
    EXPECT_EQ(seen.reads, 1);
    EXPECT_EQ(seen.body, body);
    EXPECT_THAT(seen.head, ::testing::HasSubstr("Content-Length: 1000"));
  }
  const auto setup = make_setup(plan, {body});
  const auto opened = start_connect(setup.targets[0], nullptr, setup.socket_options);
  int no_delay = 0;
  socklen_t size = sizeof no_delay;
  EXPECT_EQ(getsockopt(opened.fd, IPPROTO_TCP, TCP_NODELAY, &no_delay, &size), 0);
  EXPECT_NE(no_delay, 0);
  close(opened.fd);
}

// ---- errors and ends -----------------------------------------------------------------------------------

TEST(Timeouts, EachIsCountedOnceAndALateAnswerIsNotAnother) {
  FakeServer server{[](const Peer& peer, const Seen&) {
    peer.pause(150ms);
    peer.write(kHello);
    return Then::keep;
  }};
  auto plan = plan_for(server.url(), plan::ConstantRate{8}, kShort, 4);
  plan.request_timeout = 50 * plan::kMillisecond;
  const auto window = run(plan).window()->total();
  EXPECT_EQ(window.counts.timeouts, 4);
  EXPECT_EQ(window.counts.sent, 4);
  EXPECT_EQ(window.counts.ok, 0);
  EXPECT_EQ(window.latency.waiting.count(), 4);
  EXPECT_EQ(window.latency.answered.count(), 0);
}

TEST(Timeouts, OnlyOfRequestsThatWereSent) {
  FakeServer server{[](const Peer& peer, const Seen&) {
    peer.hang();
    return Then::close;
  }};
  auto plan = plan_for(server.url(), plan::ConstantRate{100}, kShort, 1);
  plan.request_timeout = 100 * plan::kMillisecond;
  const auto counts = counts_of(run(plan));
  EXPECT_EQ(counts.planned, 50);
  EXPECT_EQ(counts.sent, counts.timeouts + counts.in_flight);
  EXPECT_LE(counts.sent, 6);  // one after the other, 100 ms each
  EXPECT_GE(counts.shed, 30);
}

// How long a run against `url` takes, and what came of it.
std::pair<Nanos, record::RunResult> timed(const plan::Plan& plan) {
  Listener listener;
  const auto begin = monotonic_now();
  auto result = run_as_it_is(plan, listener);
  return {monotonic_now() - begin, std::move(result)};
}

constexpr Nanos kGrace = 300 * plan::kMillisecond;

TEST(HardStop, AServerThatNeverAnswers) {
  FakeServer server{[](const Peer& peer, const Seen&) {
    peer.hang();
    return Then::close;
  }};
  const auto [time, result] = timed(plan_for(server.url(), plan::ConstantRate{100}, kShort, 3));
  EXPECT_GE(time, kShort + kGrace);
  EXPECT_LT(time, kShort + kGrace + kSlack);
  EXPECT_EQ(counts_of(result).in_flight, 3);
}

TEST(HardStop, AServerThatDripsItsAnswer) {
  FakeServer server{[](const Peer& peer, const Seen&) {
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
    while (!peer.stopping() && peer.write("x")) peer.pause(20ms);
    return Then::close;
  }};
  const auto [time, result] = timed(plan_for(server.url(), plan::ConstantRate{100}, kShort, 3));
  EXPECT_LT(time, kShort + kGrace + kSlack);
  const auto counts = counts_of(result);
  EXPECT_EQ(counts.in_flight, 3);
  EXPECT_EQ(counts.unsent, 47);
  EXPECT_EQ(result.window()->total().first_byte.answered.count(), 3);
}

TEST(HardStop, AServerThatNeverAccepts) {
  const FullServer server;
  auto plan = plan_for(server.url(), plan::ConstantRate{100}, kShort, 3);
  plan.connect_timeout = 300 * plan::kMillisecond;
  const auto [time, result] = timed(plan);
  EXPECT_LT(time, plan.connect_timeout + kShort + kGrace + kSlack);
  EXPECT_EQ(result.status, record::Status::failed);
  EXPECT_THAT(result.reason, ::testing::HasSubstr("connectTimeout 3 times"));
}

// Its connections were lost in the run, and the new ones are not accepted.
TEST(HardStop, AServerThatStopsAcceptingInMidRun) {
  std::atomic<bool> gone{false};
  FakeServer server{[&](const Peer& peer, const Seen& seen) {
    if (gone.load()) peer.hang();
    gone.store(seen.number >= 10);
    peer.write(kHello);
    return Then::close;
  }};
  auto plan = plan_for(server.url(), plan::ConstantRate{100}, kShort, 2);
  const auto [time, result] = timed(plan);
  EXPECT_LT(time, kShort + kGrace + kSlack);
  EXPECT_EQ(record::imbalance(counts_of(result)), "");
}

TEST(BackOff, AServerThatClosesEveryConnectionIsNotStormed) {
  FakeServer server{[](const Peer&, const Seen&) { return Then::close; }};
  const auto result = run(plan_for(server.url(), plan::ConstantRate{1'000}, plan::kSecond, 4));
  // 50 ms, 100, 200, 400, each a quarter less at most: six attempts in the second and the grace.
  EXPECT_LE(server.accepted(), 4 * 8);
  EXPECT_GE(server.accepted(), 4 * 2);
  const auto counts = counts_of(result);
  EXPECT_EQ(of(counts, TransportError::truncated), counts.sent);
  EXPECT_EQ(of(counts, TransportError::stale_reuse), 0);
}

// A gauge that other tools let fall below zero: every level of every second.
class Gauges final : public record::RunListener {
 public:
  void started(const record::RunInfo&) override {}
  void connected(const record::ConnectionStats&, std::int64_t) override {}
  void stage_started(std::size_t, std::int64_t) override {}
  void stage_ended(std::size_t, std::int64_t) override {}
  void second(const record::Second& second) override {
    if (const auto* cell = second.data->find(0, 0)) {
      lowest = std::min(lowest, cell->counts.in_flight);
      highest = std::max(highest, cell->counts.in_flight);
    }
    ++seconds;
  }
  void done(const record::RunResult&) override {}
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
  int seconds = 0;
};

TEST(Restart, AServerThatComesBackIsUsedAgainAndNothingIsLost) {
  const auto slow = [](const Peer& peer, const Seen&) {
    peer.pause(5ms);
    peer.write(kHello);
    return Then::keep;
  };
  auto server = std::make_unique<FakeServer>(slow);
  const int port = server->port();
  auto plan = plan_for(server->url(), plan::ConstantRate{200}, 2 * plan::kSecond, 8);
  plan.threads = 2;
  Gauges gauges;
  record::RunResult result;
  std::thread generator{[&] {
    const auto setup = make_setup(plan, {""});
    result = run_load(setup, describe(setup), gauges);
  }};
  std::this_thread::sleep_for(500ms);
  server.reset();
  std::this_thread::sleep_for(300ms);
  server = std::make_unique<FakeServer>(slow, port);
  generator.join();
  const auto counts = counts_of(result);
  EXPECT_EQ(record::imbalance(counts), "");
  EXPECT_EQ(result.status, record::Status::complete);
  EXPECT_EQ(counts.planned, 400);
  EXPECT_GT(server->seen().size(), 0U);
  EXPECT_GE(result.connections.reopened, 8);
  EXPECT_EQ(result.connections.peak, 8);
  EXPECT_GE(result.connections.errors["refused"], 8);
  // 300 ms without a server: attempts after 0, 50, 100 and 200 ms, give or take a quarter.
  EXPECT_LE(result.connections.errors["refused"], 8 * 6);
  EXPECT_GE(gauges.lowest, 0);
  EXPECT_LE(gauges.highest, 8);
  EXPECT_GE(gauges.seconds, 2);
}

TEST(Connections, OpenedPeakLostAndReopenedAreTold) {
  FakeServer server{[](const Peer& peer, const Seen& seen) {
    peer.write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(seen.number, 0);
    return Then::close;
  }};
  const auto result = run(plan_for(server.url(), plan::ConstantRate{40}, kShort, 4));
  EXPECT_EQ(counts_of(result).ok, 20);
  const auto& stats = result.connections;
  EXPECT_EQ(stats.asked, 4);
  EXPECT_EQ(stats.opened, 4);
  EXPECT_EQ(stats.lost, 20);
  EXPECT_GE(stats.reopened, 16);
  EXPECT_LE(stats.peak, 4);
  EXPECT_EQ(server.accepted(), stats.opened + stats.reopened);
  EXPECT_EQ(stats.connect_time.count(), stats.opened + stats.reopened);
}

TEST(Connections, AConnectRampOpensAtItsRate) {
  FakeServer server{hello};
  auto plan = plan_for(server.url(), plan::ConstantRate{40}, kShort, 6);
  plan.connect_ramp = 20;
  plan.threads = 2;
  const auto result = run(plan);
  ASSERT_TRUE(result.connections.all_open_nanos);
  EXPECT_GE(*result.connections.all_open_nanos, 250 * plan::kMillisecond);  // the sixth at 5/20 s
}

TEST(Errors, ManyDoNotEndTheRun) {
  FakeServer server{[](const Peer& peer, const Seen& seen) {
    peer.write(seen.number % 2 == 0 ? "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n" : kHello);
    return Then::keep;
  }};
  const auto result = run(plan_for(server.url(), plan::ConstantRate{100}, kShort, 1));
  EXPECT_EQ(counts_of(result).http_errors[5], 25);
  EXPECT_EQ(counts_of(result).ok, 25);
  EXPECT_EQ(result.status, record::Status::complete);
}

// ---- output --------------------------------------------------------------------------------------------

TEST(Output, EachThreadTellsItsOwnNumbers) {
  FakeServer server{hello};
  auto plan = plan_for(server.url(), plan::ConstantRate{300}, kShort, 6);
  plan.threads = 3;
  const auto result = run(plan);
  ASSERT_EQ(result.generator.threads.size(), 3U);
  for (const auto& thread : result.generator.threads) {
    EXPECT_EQ(thread.sent, 50);
    EXPECT_EQ(thread.connections, 2);
    EXPECT_EQ(thread.lag.count() + thread.lag.overflow(), 50);
  }
  const auto json = report::load_json(result);
  const auto& threads = json.at("generator").at("threads").as_array();
  ASSERT_EQ(threads.size(), 3U);
  EXPECT_EQ(threads[1].at("sent").to_number<std::int64_t>(), 50);
}

TEST(Output, EachStageHasItsBlock) {
  FakeServer server{hello};
  auto plan = plan_for(server.url(), plan::ConstantRate{40}, kShort, 2);
  plan.stages.push_back({"second", plan::StageKind::measure, kShort, plan::ConstantRate{80}});
  const auto json = report::load_json(run(plan));
  const auto& stages = json.at("stages").as_array();
  ASSERT_EQ(stages.size(), 2U);
  EXPECT_EQ(stages[0].at("ok").as_int64(), 20);
  EXPECT_EQ(stages[1].at("ok").as_int64(), 40);
  EXPECT_EQ(stages[1].at("latencyMillis").at("count").as_int64(), 40);
  EXPECT_EQ(json.at("window").at("ok").as_int64(), 60);
}

TEST(Output, ARunInWhichNothingFellDueIsValidJsonWithNulls) {
  FakeServer server{hello};
  const auto result = run(plan_for(server.url(), plan::ConstantRate{0.1}, kShort, 1));
  const auto json = report::load_json(result);
  const auto& latency = json.at("window").at("latencyMillis").as_object();
  for (const char* key : {"min", "p50", "p99", "max", "mean"}) EXPECT_TRUE(latency.at(key).is_null()) << key;
  EXPECT_EQ(latency.at("count").as_int64(), 0);
}

}  // namespace
}  // namespace heddle::engine
