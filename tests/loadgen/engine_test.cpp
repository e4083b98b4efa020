// The engine against a server that misbehaves: every outcome lands in its class, and the balance holds.
#include "loadgen/engine/endpoint.hpp"
#include "tests/loadgen/engine_run.hpp"

#include <chrono>
#include <memory>
#include <numeric>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::engine {
namespace {

using heddle::testing::counts_of;
using heddle::testing::FakeServer;
using heddle::testing::hello;
using heddle::testing::kHello;
using heddle::testing::kShort;
using heddle::testing::Listener;
using heddle::testing::of;
using heddle::testing::plan_for;
using heddle::testing::run;
using heddle::testing::Seen;
using Peer = FakeServer::Peer;
using Then = FakeServer::Then;
using record::TransportError;
using namespace std::chrono_literals;

TEST(Engine, PlansExactlyTheIntegralOfTheRate) {
  for (const std::int64_t threads : {1, 3}) {
    FakeServer server{hello};
    auto plan = plan_for(server.url(), plan::ConstantRate{101}, plan::kSecond, 7);
    plan.threads = threads;
    const auto counts = counts_of(run(plan));
    EXPECT_EQ(counts.planned, 101);
    EXPECT_EQ(counts.ok, 101);
    EXPECT_EQ(server.accepted(), 7);
    EXPECT_EQ(counts.bytes_received, 101 * static_cast<std::int64_t>(kHello.size()));
  }
}

TEST(Engine, SourcesAreOtherLoopbackAddresses) {
  FakeServer server{hello};
  const auto result = run(plan_for(server.url(), plan::ConstantRate{50}, kShort, 5));
  EXPECT_THAT(server.peers(), ::testing::Each("127.0.0.2"));
  EXPECT_EQ(result.connections.by_source.at("127.0.0.2").opened, 5);
  EXPECT_EQ(result.connections.opened, 5);
  EXPECT_EQ(result.connections.peak, 5);
  EXPECT_TRUE(result.connections.all_open_nanos);
}

TEST(Engine, WarmUpStaysOutOfTheWindow) {
  FakeServer server{hello};
  auto plan = plan_for(server.url(), plan::ConstantRate{100}, kShort, 4);
  plan.stages.insert(plan.stages.begin(), {"warm", plan::StageKind::warmup, kShort, plan::ConstantRate{40}});
  const auto result = run(plan);
  ASSERT_EQ(result.stages.size(), 2U);
  EXPECT_EQ(result.stages[0].total().counts.planned, 20);
  EXPECT_EQ(result.window()->total().counts.planned, 50);
  EXPECT_EQ(result.window()->total().latency.size(), 50);
  ASSERT_TRUE(result.drain_nanos);
  EXPECT_FALSE(result.drain_timed_out);
  EXPECT_GE(result.stages[1].start_nanos, result.stages[0].end_nanos);
  EXPECT_EQ(server.accepted(), 4);
}

// The server stops for 400 ms once. Requests that fell due meanwhile waited: latency shows it for a large
// part of them, service time only for those on the wire.
TEST(Engine, AStallShowsInLatencyButNotInServiceTime) {
  std::atomic<bool> stalled{false};
  FakeServer server{[&](const Peer& peer, const Seen& seen) {
    if (seen.number == 100 && !stalled.exchange(true)) peer.pause(400ms);
    peer.write(kHello);
    return Then::keep;
  }};
  const auto result = run(plan_for(server.url(), plan::ConstantRate{500}, plan::kSecond, 1));
  const auto window = result.window()->total();
  EXPECT_EQ(window.counts.planned, 500);
  // Due during the stall: 200 of 500, so a tenth of all waited 150 ms at least.
  const auto latency = quantile(window.latency, 0.9, 1);
  ASSERT_TRUE(latency);
  EXPECT_GT(latency->micros, 150'000);
  const auto waited_on_the_wire =
      window.service.answered.count() - window.service.answered.count_up_to(150'000);
  EXPECT_LE(waited_on_the_wire, 1);
}

TEST(Engine, ShedInsteadOfQueueCountsWhatFoundNoConnection) {
  FakeServer server{[](const Peer& peer, const Seen& seen) {
    if (seen.number == 5) peer.pause(200ms);
    peer.write(kHello);
    return Then::keep;
  }};
  auto plan = plan_for(server.url(), plan::ConstantRate{200}, kShort, 1);
  plan.when_busy = plan::WhenBusy::shed;
  const auto counts = counts_of(run(plan));
  EXPECT_EQ(counts.planned, 100);
  EXPECT_GE(counts.shed, 20);
  EXPECT_EQ(counts.unsent, 0);
}

TEST(Engine, AServerThatNeverAnswersLeavesRequestsInFlightAndUnsent) {
  FakeServer server{[](const Peer& peer, const Seen&) {
    peer.hang();
    return Then::close;
  }};
  const auto result = run(plan_for(server.url(), plan::ConstantRate{100}, kShort, 3));
  const auto window = result.window()->total();
  EXPECT_EQ(window.counts.planned, 50);
  EXPECT_EQ(window.counts.in_flight, 3);
  EXPECT_EQ(window.counts.unsent, 47);
  EXPECT_EQ(window.latency.answered.count(), 0);
  EXPECT_EQ(window.latency.waiting.count(), 50);
  EXPECT_EQ(window.service.waiting.count(), 3);
}

TEST(Engine, ARequestOverItsLimitIsATimeoutAndEntersTheTail) {
  FakeServer server{[](const Peer& peer, const Seen& seen) {
    if (seen.connection == 0) peer.hang();
    peer.write(kHello);
    return Then::keep;
  }};
  auto plan = plan_for(server.url(), plan::ConstantRate{100}, kShort, 2);
  plan.request_timeout = 200 * plan::kMillisecond;
  const auto window = run(plan).window()->total();
  EXPECT_EQ(window.counts.timeouts, 1);
  EXPECT_EQ(window.counts.ok, 49);
  EXPECT_EQ(window.latency.waiting.count(), 1);
  EXPECT_GE(window.latency.waiting.max(), 200'000);
  EXPECT_TRUE(largest(window.latency)->at_least);
}

TEST(Engine, HttpErrorsCountByClassAndStayOutOfLatency) {
  FakeServer server{[](const Peer& peer, const Seen& seen) {
    peer.write(seen.number % 3 == 0   ? "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
               : seen.number % 3 == 1 ? "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"
                                      : "HTTP/1.1 204 No Content\r\n\r\n");
    return Then::keep;
  }};
  const auto window = run(plan_for(server.url(), plan::ConstantRate{60}, kShort, 1)).window()->total();
  EXPECT_EQ(window.counts.http_errors[4], 10);
  EXPECT_EQ(window.counts.http_errors[5], 10);
  EXPECT_EQ(window.counts.http_errors[2], 10);
  EXPECT_EQ(window.counts.ok, 0);
  EXPECT_EQ(window.latency.size(), 0);
}

// The first request on each connection is answered, the second meets `behaviour`.
record::RunResult second_request_meets(const std::function<Then(const Peer&)>& behaviour) {
  FakeServer server{[&](const Peer& peer, const Seen& seen) {
    if (seen.number == 1) return behaviour(peer);
    peer.write(kHello);
    return Then::keep;
  }};
  return run(plan_for(server.url(), plan::ConstantRate{20}, kShort, 1));
}

TEST(Engine, ACloseWithoutAByteOnAUsedConnectionIsStaleReuse) {
  const auto result = second_request_meets([](const Peer&) { return Then::close; });
  const auto counts = counts_of(result);
  EXPECT_EQ(of(counts, TransportError::stale_reuse), 5);
  EXPECT_EQ(counts.ok, 5);
  EXPECT_EQ(result.connections.lost, 5);
  EXPECT_GE(result.connections.reopened, 4);
}

TEST(Engine, AResetInMidAnswerIsAReset) {
  const auto counts = counts_of(second_request_meets([](const Peer& peer) {
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe");
    peer.pause(20ms);
    return Then::reset;
  }));
  EXPECT_EQ(of(counts, TransportError::reset), 5);
  EXPECT_EQ(of(counts, TransportError::stale_reuse), 0);
}

TEST(Engine, ACloseInMidAnswerIsTruncated) {
  const auto counts = counts_of(second_request_meets([](const Peer& peer) {
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe");
    return Then::close;
  }));
  EXPECT_EQ(of(counts, TransportError::truncated), 5);
}

TEST(Engine, GarbageIsMalformed) {
  const auto counts = counts_of(second_request_meets([](const Peer& peer) {
    peer.write("220 smtp.example.org ready\r\n\r\n");
    return Then::keep;
  }));
  EXPECT_EQ(of(counts, TransportError::malformed), 5);
}

TEST(Engine, MoreBytesThanAnnouncedIsMalformed) {
  const auto counts = counts_of(second_request_meets([](const Peer& peer) {
    peer.write(kHello + "and more");
    return Then::keep;
  }));
  EXPECT_EQ(of(counts, TransportError::malformed), 5);
}

TEST(Engine, ABodyOfTheWrongSizeIsMalformed) {
  FakeServer server{hello};
  auto plan = plan_for(server.url(), plan::ConstantRate{20}, kShort, 1);
  plan.requests[0].expect_body_bytes = 6;
  EXPECT_EQ(of(counts_of(run(plan)), TransportError::malformed), 10);
  plan.requests[0].expect_body_bytes = 5;
  EXPECT_EQ(counts_of(run(plan)).ok, 10);
}

TEST(Engine, AnAnswerInPiecesIsOneAnswer) {
  FakeServer server{[](const Peer& peer, const Seen&) {
    for (const char c : kHello) peer.write({&c, 1});
    return Then::keep;
  }};
  EXPECT_EQ(counts_of(run(plan_for(server.url(), plan::ConstantRate{50}, kShort, 3))).ok, 25);
}

TEST(Engine, ABodyThatEndsWithTheConnectionIsOk) {
  FakeServer server{[](const Peer& peer, const Seen&) {
    peer.write("HTTP/1.1 200 OK\r\n\r\nall of it");
    return Then::close;
  }};
  const auto result = run(plan_for(server.url(), plan::ConstantRate{40}, kShort, 4));
  EXPECT_EQ(counts_of(result).ok, 20);
  EXPECT_GE(server.accepted(), 20);
}

TEST(Engine, ConnectionCloseOfTheServerIsObeyed) {
  FakeServer server{[](const Peer& peer, const Seen& seen) {
    peer.write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(seen.number, 0);
    return Then::close;
  }};
  EXPECT_EQ(counts_of(run(plan_for(server.url(), plan::ConstantRate{40}, kShort, 4))).ok, 20);
}

TEST(Engine, WithoutKeepAliveEachRequestHasItsConnection) {
  FakeServer server{[](const Peer& peer, const Seen& seen) {
    EXPECT_THAT(seen.head, ::testing::HasSubstr("Connection: close"));
    peer.write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    return Then::close;
  }};
  auto plan = plan_for(server.url(), plan::ConstantRate{40}, kShort, 4);
  plan.keep_alive = false;
  const auto result = run(plan);
  EXPECT_EQ(counts_of(result).ok, 20);
  EXPECT_EQ(result.connections.lost, 0);
}

TEST(Engine, RequestsPerConnectionAreLimited) {
  FakeServer server{hello};
  auto plan = plan_for(server.url(), plan::ConstantRate{60}, kShort, 1);
  plan.requests_per_connection = 3;
  EXPECT_EQ(counts_of(run(plan)).ok, 30);
  for (const auto& seen : server.seen()) EXPECT_LT(seen.number, 3);
}

TEST(Engine, NothingListensIsAFailureWithItsReason) {
  Listener silent;
  const auto url = "http://127.0.0.1:" + std::to_string(heddle::testing::closed_port());
  const auto setup = make_setup(plan_for(url, plan::ConstantRate{10}, 10 * plan::kSecond, 4), {""});
  const auto result = run_load(setup, describe(setup), silent);
  EXPECT_EQ(result.status, record::Status::failed);
  EXPECT_THAT(result.reason, ::testing::HasSubstr("refused 4 times"));
  EXPECT_TRUE(result.stages.empty());
  EXPECT_EQ(result.connections.refused(), 4);
}

TEST(Engine, ARunWithoutOneSuccessIsAFailureWithItsCounts) {
  FakeServer server{[](const Peer& peer, const Seen&) {
    peer.write("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    return Then::keep;
  }};
  const auto result = run(plan_for(server.url(), plan::ConstantRate{40}, kShort, 1));
  EXPECT_EQ(result.status, record::Status::failed);
  EXPECT_EQ(result.reason, "no request succeeded: 20 sent, 20 HTTP 4xx");
}

TEST(Engine, AServerThatIsGoneBeforeTheWindowIsAFailureAlthoughNothingWasSent) {
  auto server = std::make_unique<FakeServer>(hello);
  auto plan = plan_for(server->url(), plan::ConstantRate{40}, kShort, 1);
  plan.stages.insert(plan.stages.begin(),
                     {"warmup", plan::StageKind::warmup, plan::kSecond, plan::ConstantRate{40}});
  std::thread killer{[&server] {
    std::this_thread::sleep_for(std::chrono::milliseconds{300});
    server.reset();
  }};
  const auto result = run(plan);
  killer.join();
  EXPECT_EQ(result.status, record::Status::failed);
  EXPECT_THAT(result.reason, ::testing::HasSubstr("no request succeeded: 0 sent"));
  EXPECT_THAT(result.reason, ::testing::HasSubstr("20 never sent"));
}

TEST(Engine, UsersWhoAreRefusedCountEachAttempt) {
  const auto url = "http://127.0.0.1:" + std::to_string(heddle::testing::closed_port());
  auto plan = plan_for(url, plan::UsersRamp{0, 3}, kShort, 3);
  plan.think = {plan::ThinkKind::constant, plan::kSecond, plan::kSecond};
  Listener silent;
  const auto setup = make_setup(plan, {""});
  const auto result = run_load(setup, describe(setup), silent);
  EXPECT_EQ(result.status, record::Status::failed);
  const auto counts = counts_of(result);
  EXPECT_EQ(record::imbalance(counts), "");
  EXPECT_EQ(of(counts, TransportError::refused), 3);
}

TEST(Engine, UsersThinkBetweenAnswers) {
  FakeServer server{hello};
  auto plan = plan_for(server.url(), plan::UsersRamp{0, 4}, plan::kSecond, 4);
  plan.think = {plan::ThinkKind::constant, 10 * plan::kSecond, 10 * plan::kSecond};
  const auto result = run(plan);
  EXPECT_EQ(counts_of(result).ok, 4);  // one each, then they think beyond the end
  EXPECT_EQ(result.connections.peak, 4);
}

TEST(Engine, UsersOfARampDownLeaveAfterTheirRequest) {
  FakeServer server{hello};
  auto plan = plan_for(server.url(), plan::UsersRamp{0, 6}, kShort, 6);
  plan.stages.push_back({"down", plan::StageKind::measure, kShort, plan::UsersRamp{6, 0}});
  plan.think = {plan::ThinkKind::constant, 20 * plan::kMillisecond, 20 * plan::kMillisecond};
  plan.threads = 2;
  const auto result = run(plan);
  const auto counts = counts_of(result);
  EXPECT_GT(counts.ok, 12);
  EXPECT_EQ(counts.in_flight, 0);
  EXPECT_EQ(result.connections.peak, 6);
  EXPECT_EQ(result.connections.lost, 0);
}

TEST(Engine, PerUserMixSplitsTheUsersExactly) {
  FakeServer server{hello};
  auto plan = plan_for(server.url(), plan::UsersRamp{0, 8}, kShort, 8);
  plan.think = {plan::ThinkKind::constant, 10 * plan::kSecond, 10 * plan::kSecond};
  plan.mix = plan::Mix::per_user;
  plan.requests.resize(2);
  plan.requests[0].weight = 3;
  plan.requests[1].name = "post";
  plan.requests[1].method = "POST";
  const auto window = *run(plan).window();
  EXPECT_EQ(window.classes[0].counts.ok, 6);
  EXPECT_EQ(window.classes[1].counts.ok, 2);
}

TEST(Engine, AClosedLoopSendsWhenTheLastAnswerIsThere) {
  FakeServer server{[](const Peer& peer, const Seen&) {
    peer.pause(10ms);
    peer.write(kHello);
    return Then::keep;
  }};
  const auto result = run(plan_for(server.url(), plan::Users{2}, kShort, 2));
  EXPECT_TRUE(result.info.closed_loop);
  const auto counts = counts_of(result);
  EXPECT_GT(counts.ok, 2);
  EXPECT_LE(counts.planned, 2 * 51);  // 10 ms each at least
}

TEST(Engine, TellsItsStagesInOrder) {
  FakeServer server{hello};
  auto plan = plan_for(server.url(), plan::ConstantRate{50}, kShort, 2);
  plan.stages.push_back({"second", plan::StageKind::measure, kShort, plan::RateRamp{50, 0}});
  Listener silent;
  const auto setup = make_setup(plan, {""});
  const auto result = run_load(setup, describe(setup), silent);
  ASSERT_EQ(silent.starts.size(), 2U);
  ASSERT_EQ(silent.ends.size(), 2U);
  EXPECT_EQ(silent.ends[0].second, silent.starts[1].second);
  EXPECT_EQ(silent.ends[0].second - silent.starts[0].second, kShort);
  EXPECT_EQ(result.window()->total().counts.planned, 25 + 12);
  EXPECT_GE(silent.seconds, 2);
}

TEST(Engine, ManyConnectionsHaveTheSamePlan) {
  FakeServer server{hello};
  auto plan = plan_for(server.url(), plan::ConstantRate{300}, kShort, 200);
  plan.threads = 2;
  const auto result = run(plan);
  EXPECT_EQ(counts_of(result).ok, 150);
  EXPECT_EQ(result.connections.opened, 200);
}

}  // namespace
}  // namespace heddle::engine
