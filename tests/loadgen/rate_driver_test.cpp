// The balance of an open loop when it is interrupted: the end is a moment that has passed already.
#include "loadgen/engine/driver.hpp"
#include "loadgen/plan/schedule.hpp"
#include "tests/loadgen/fake_server.hpp"

#include <thread>

#include <gtest/gtest.h>

namespace heddle::engine {
namespace {

using heddle::testing::FakeServer;
using heddle::testing::kHello;

// One thread's engine without its loop, so that the test decides what time it is.
class Engine {
 public:
  explicit Engine(const std::string& url, Nanos request_timeout = 60 * plan::kSecond)
      : setup_{setup_for(url, request_timeout)} {
    connections_.observe(*driver_);
  }

  [[nodiscard]] Driver& driver() { return *driver_; }
  void begin(Nanos start) { driver_->begin(setup_.groups[0], start); }
  [[nodiscard]] Nanos due(std::int64_t k) const { return plan::arrival_due(setup_.plan.stages[0], k); }
  [[nodiscard]] const record::Counts& counts() { return recorder_.cell(0, 0).counts; }
  [[nodiscard]] const record::Histogram& lag() const { return recorder_.last().lag; }
  [[nodiscard]] const record::Cell& close() {
    connections_.abandon(monotonic_now());
    recorder_.close(monotonic_now());
    return recorder_.cell(0, 0);
  }

  void open() {
    connections_.open(0);
    handle_until([this] { return connections_.at(0).state == State::idle; });
  }
  // False when it does not come to pass in a time that is long for any machine.
  template <class Condition>
  bool handle_until(Condition done) {
    const Nanos deadline = monotonic_now() + 20 * plan::kSecond;
    while (!done() && monotonic_now() < deadline) {
      for (const auto& event : poller_.wait(deadline)) connections_.handle(event);
    }
    return done();
  }

 private:
  static Setup setup_for(const std::string& url, Nanos request_timeout) {
    plan::Plan plan;
    plan.request_timeout = request_timeout;
    plan.targets = {plan::parse_url(url)};
    plan.stages = {{"measure", plan::StageKind::measure, 1'000 * plan::kSecond, plan::ConstantRate{1'000}}};
    plan.requests.resize(1);
    return make_setup(plan, {""});
  }

  Setup setup_;
  Poller poller_;
  Control control_{setup_.sources.size()};
  Report report_;
  Recorder recorder_{1, 1};
  ConnectionSet connections_{setup_, 0, poller_, recorder_, control_, report_};
  std::unique_ptr<Driver> driver_ = make_rate_driver(setup_, 0, connections_, recorder_);
};

TEST(RateDriver, AnAnswerAfterTheEndMaySendWhatIsThenPlannedToo) {
  FakeServer server{[](const FakeServer::Peer& peer, const heddle::testing::Seen&) {
    peer.write(kHello);
    return FakeServer::Then::keep;
  }};
  Engine engine{server.url()};
  engine.open();
  // The driver is told a time at which two requests are due, while the clock of the answers is far beyond.
  const Nanos start = monotonic_now() - 10 * plan::kSecond;
  const Nanos stop = start + engine.due(1);
  engine.begin(start);
  engine.driver().run_due(stop);
  EXPECT_EQ(engine.counts().planned, 2);
  EXPECT_EQ(engine.counts().sent, 1);
  ASSERT_TRUE(engine.handle_until([&] { return engine.counts().sent >= 3; }));
  while (!engine.driver().end(stop)) {
  }
  EXPECT_EQ(record::imbalance(engine.close().counts), "");
}

TEST(RateDriver, WhatWasPlannedBeyondTheEndIsUnsent) {
  Engine engine{"http://127.0.0.1:1"};  // its connection is never opened
  const Nanos start = monotonic_now();
  engine.begin(start);
  engine.driver().run_due(start + engine.due(49));
  EXPECT_TRUE(engine.driver().end(start + engine.due(9)));
  const auto& cell = engine.close();
  EXPECT_EQ(cell.counts.planned, 50);
  EXPECT_EQ(cell.counts.unsent, 50);
  EXPECT_EQ(record::imbalance(cell.counts), "");
  EXPECT_EQ(cell.latency.waiting.count(), 50);
  EXPECT_EQ(cell.latency.waiting.min(), 0);  // due at the end
}

// A loop that was held up for 300 ms while its connection was free: that is the generator's lateness, and the
// latency of the requests that waited.
TEST(RateDriver, AStalledLoopIsLateness) {
  FakeServer server{[](const FakeServer::Peer& peer, const heddle::testing::Seen&) {
    peer.write(kHello);
    return FakeServer::Then::keep;
  }};
  Engine engine{server.url()};
  const Nanos start = monotonic_now();
  engine.begin(start);
  engine.open();
  std::this_thread::sleep_for(std::chrono::milliseconds{300});
  engine.driver().run_due(monotonic_now());
  EXPECT_EQ(engine.lag().count(), 1);
  EXPECT_GE(engine.lag().min(), 290'000);
  EXPECT_GE(engine.counts().planned, 300);
}

// Between its due time and its answer a request has the request timeout: what waited longer for a connection
// is not sent any more.
TEST(RateDriver, WhatWaitedLongerThanTheTimeoutIsShedBeforeItIsSent) {
  FakeServer server{[](const FakeServer::Peer& peer, const heddle::testing::Seen&) {
    peer.hang();
    return FakeServer::Then::close;
  }};
  Engine engine{server.url(), plan::kSecond};
  const Nanos start = monotonic_now() - 10 * plan::kSecond;
  engine.open();
  engine.begin(start);
  for (int turn = 0; turn < 10'000 && engine.counts().sent == 0; ++turn) {
    engine.driver().run_due(start + 10 * plan::kSecond);
  }
  EXPECT_EQ(engine.counts().planned, 10'001);
  EXPECT_EQ(engine.counts().shed, 9'000);  // due in the first nine seconds
  EXPECT_EQ(engine.counts().sent, 1);
  while (!engine.driver().end(start + 10 * plan::kSecond)) {
  }
  const auto& cell = engine.close();
  EXPECT_EQ(cell.counts.unsent, 1'000);
  EXPECT_EQ(record::imbalance(cell.counts), "");
  EXPECT_EQ(cell.latency.size(), 10'001);
}

TEST(RateDriver, ALongQueueIsCountedInPartsAndNothingIsSentMeanwhile) {
  FakeServer server{[](const FakeServer::Peer& peer, const heddle::testing::Seen&) {
    peer.write(kHello);
    return FakeServer::Then::keep;
  }};
  Engine engine{server.url()};
  const Nanos start = monotonic_now() - 25 * plan::kSecond;
  engine.begin(start);  // 1,000 a second and no connection is open
  const Nanos end = start + engine.due(24'999);
  EXPECT_FALSE(engine.driver().end(end));
  engine.open();  // would have sent, had it come earlier
  EXPECT_EQ(engine.counts().sent, 0);
  EXPECT_FALSE(engine.driver().end(end));
  EXPECT_TRUE(engine.driver().end(end));
  const auto& counts = engine.close().counts;
  EXPECT_EQ(counts.planned, 25'000);
  EXPECT_EQ(counts.unsent, 25'000);
  EXPECT_EQ(record::imbalance(counts), "");
}

}  // namespace
}  // namespace heddle::engine
