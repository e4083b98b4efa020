#include "loadgen/record/throughput.hpp"

#include "loadgen/record/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::record {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kSecond = 1'000'000'000;

// An open loop of 10 s: `planned` requests of which `ok` took 100 ms each.
struct Outcome {
  RunResult result;
  StageResult window;

  Outcome(std::int64_t planned, std::int64_t ok) {
    window.start_nanos = 5 * kSecond;
    window.end_nanos = 15 * kSecond;
    window.classes.resize(1);
    auto& counts = window.classes[0].counts;
    counts.planned = planned;
    counts.sent = ok;
    counts.ok = counts.ok_in_time = ok;
    counts.unsent = planned - ok;
    result.connections.asked = result.connections.peak = 100;
    ThreadStats thread;
    thread.window_seconds = 10;
    thread.in_flight_seconds = thread.total_in_flight_seconds = 0.1 * static_cast<double>(ok);
    result.generator.threads.push_back(thread);
    for (std::int64_t i = 0; i < ok; ++i) {
      window.classes[0].service.answered.record(100'000);
      window.classes[0].latency.answered.record(100'000);
    }
    result.littles_law = littles_law(result.generator, window.total());
  }
  [[nodiscard]] Throughput judged() const { return throughput(result, window, window.total()); }
};

TEST(Throughput, ARateThatWasMetNeedsNoCause) {
  const auto t = Outcome{1'000, 995}.judged();
  EXPECT_DOUBLE_EQ(*t.offered_per_second, 100);
  EXPECT_NEAR(t.ok_per_second, 995 / 9.9, 1e-9);
  EXPECT_THAT(t.cause, IsEmpty());
}

TEST(Throughput, CountsTheAnswersUntilTheEndOverTheTimeInWhichTheyCouldCome) {
  Outcome outcome{1'000, 1'000};
  auto& counts = outcome.window.classes[0].counts;
  counts.ok_in_time = 990;  // the last ten were due less than 100 ms before the end
  EXPECT_NEAR(outcome.judged().ok_per_second, 100.0, 0.1);
  EXPECT_THAT(outcome.judged().cause, IsEmpty());
}

TEST(Throughput, AnswersAfterTheEndDoNotHideABacklog) {
  // 10,000 connections, 7,000/s offered for 5 s, 5,000/s served; the grace lets the rest arrive.
  std::vector<Cell> cells(1);
  auto& counts = cells[0].counts;
  counts.planned = counts.sent = counts.ok = 35'000;
  counts.ok_in_time = 25'000;
  for (int i = 0; i < 35'000; ++i) cells[0].latency.answered.record(1'000 + 57 * i);
  EXPECT_NEAR(*served_share(cells, 5), 0.75, 0.03);
}

TEST(Throughput, AFewAnswersAfterTheEndAreCountingNoise) {
  std::vector<Cell> cells(1);
  auto& counts = cells[0].counts;
  counts.planned = counts.sent = counts.ok = 100;
  counts.ok_in_time = 97;
  for (int i = 0; i < 100; ++i) cells[0].latency.answered.record(1'000);
  EXPECT_DOUBLE_EQ(*served_share(cells, 10), 1.0);
  EXPECT_EQ(served_share(std::vector<Cell>(1), 10), std::nullopt);
}

TEST(Throughput, TooFewConnectionsAreToldWithTheNumberNeeded) {
  Outcome outcome{20'000, 10'000};  // 100 connections x 10 answers a second
  const auto cause = outcome.judged().cause;
  EXPECT_THAT(cause, HasSubstr("too few connections: 100 are open, 200 would be needed"));
}

TEST(Throughput, TheGeneratorIsBlamedFirst) {
  Outcome outcome{20'000, 10'000};
  outcome.result.generator.verdict = Verdict::saturated;
  outcome.result.generator.reason = "busy";
  EXPECT_EQ(outcome.judged().cause, "the generator: busy");
}

TEST(Throughput, ErrorsAreACause) {
  Outcome outcome{1'000, 900};
  auto& counts = outcome.window.classes[0].counts;
  counts.sent = 1'000;
  counts.unsent = 0;
  counts.http_errors[5] = 100;
  EXPECT_EQ(outcome.judged().cause, "errors: 100 of 1000 requests");
}

TEST(Throughput, ConnectionsThatCouldNotBeOpenedAreACause) {
  Outcome outcome{1'000, 500};
  outcome.result.connections.peak = 60;
  EXPECT_EQ(outcome.judged().cause, "60 of 100 connections could be opened");
}

TEST(Throughput, AServerThatWentAwayIsACauseBeforeTheGenerator) {
  Outcome outcome{1'000, 500};
  outcome.result.generator.verdict = Verdict::late;
  outcome.result.connections.lost = 4;
  outcome.result.connections.errors["refused"] = 20;
  EXPECT_EQ(outcome.judged().cause,
            "connections: 4 lost, failed attempts to open one, refused 20; 500 requests found none");
}

TEST(Throughput, ShedRequestsFoundNoConnection) {
  Outcome outcome{1'000, 500};
  auto& counts = outcome.window.classes[0].counts;
  counts.unsent = 0;
  counts.shed = 500;
  EXPECT_EQ(outcome.judged().cause, "too few connections: 500 requests found none of 100 free and were shed");
}

TEST(Throughput, OtherwiseTheServerWasSlow) {
  EXPECT_THAT(Outcome(1'000, 500).judged().cause, HasSubstr("the server"));
}

TEST(Throughput, UsersHaveNoOfferedRate) {
  Outcome outcome{1'000, 500};
  outcome.result.info.users = true;
  EXPECT_EQ(outcome.judged().offered_per_second, std::nullopt);
  EXPECT_THAT(outcome.judged().cause, IsEmpty());
}

TEST(LittlesLaw, HoldsWhenEveryRequestWasRecordedOnce) {
  const Outcome outcome{1'000, 1'000};
  EXPECT_DOUBLE_EQ(outcome.result.littles_law->mean_in_flight, 10);
  EXPECT_NEAR(outcome.result.littles_law->recorded_seconds, 100, 1e-6);
  EXPECT_THAT(lost_time(*outcome.result.littles_law, outcome.window.total()), IsEmpty());
}

TEST(LittlesLaw, ALostSampleIsFound) {
  Outcome outcome{1'000, 1'000};
  // One request that was on the wire for 5 s and is in no histogram.
  outcome.result.generator.threads[0].total_in_flight_seconds += 5;
  const auto law = littles_law(outcome.result.generator, outcome.window.total());
  EXPECT_THAT(lost_time(law, outcome.window.total()), HasSubstr("105.000 s by their number"));
}

TEST(LittlesLaw, TimesOfFailedAndUnansweredRequestsCount) {
  Outcome outcome{1'000, 1'000};
  outcome.window.classes[0].counts.failed_micros = 3'000'000;
  outcome.window.classes[0].service.waiting.record(4'000'000);
  EXPECT_NEAR(littles_law(outcome.result.generator, outcome.window.total()).recorded_seconds, 107, 1e-6);
}

TEST(LittlesLaw, IsNotJudgedBeyondTheHistogramsRange) {
  Outcome outcome{1'000, 1'000};
  outcome.result.generator.threads[0].total_in_flight_seconds += 700;
  outcome.window.classes[0].service.answered.record(700'000'000);
  const auto law = littles_law(outcome.result.generator, outcome.window.total());
  EXPECT_THAT(lost_time(law, outcome.window.total()), IsEmpty());
}

TEST(Verdict, PollingForTheNextDueTimeIsNoUsefulWork) {
  Generator generator;
  ThreadStats thread;
  thread.window_seconds = 10;
  thread.busy_seconds = 2;
  thread.cpu_seconds = 10;
  thread.spin_seconds = 7;
  generator.threads = {thread};
  judge(generator, {});
  EXPECT_DOUBLE_EQ(generator.useful_busy_share, 0.3);
  EXPECT_EQ(generator.verdict, Verdict::ok);
  generator.threads[0].spin_seconds = 0;
  judge(generator, {});
  EXPECT_EQ(generator.verdict, Verdict::saturated);
}

TEST(Verdict, ALightStageDoesNotHideAHeavyOne) {
  Generator generator;
  ThreadStats thread;
  thread.window_seconds = 60;
  thread.busy_seconds = 12;
  thread.worst_useful_share = 0.95;
  generator.threads = {thread};
  judge(generator, {});
  EXPECT_EQ(generator.verdict, Verdict::saturated);
  EXPECT_DOUBLE_EQ(generator.useful_busy_share, 0.95);
}

TEST(Verdict, OneLateStageOrThreadIsLate) {
  Histogram late;
  Histogram on_time;
  for (int i = 0; i < 200; ++i) late.record(900);
  for (int i = 0; i < 100'000; ++i) on_time.record(2);
  Generator generator;
  generator.lag = on_time;
  generator.lag.merge(late);
  judge(generator, {});
  EXPECT_EQ(generator.verdict, Verdict::ok);
  generator.stage_lags = {on_time, late};
  judge(generator, {});
  EXPECT_EQ(generator.verdict, Verdict::late);
  generator.stage_lags.clear();
  generator.threads.resize(2);
  generator.threads[1].lag = late;
  judge(generator, {});
  EXPECT_EQ(generator.verdict, Verdict::late);
}

TEST(Verdict, WaitingForACpuIsLateEvenWhenNoRequestWas) {
  Generator generator;
  ThreadStats thread;
  thread.window_seconds = 10;
  thread.run_delay_seconds = 0.49;
  generator.threads = {thread};
  judge(generator, {});
  EXPECT_EQ(generator.verdict, Verdict::ok);
  generator.threads[0].run_delay_seconds = 0.51;
  judge(generator, {});
  EXPECT_EQ(generator.verdict, Verdict::late);
  EXPECT_THAT(generator.reason, HasSubstr("waited for a CPU 5.1 %"));
}

}  // namespace
}  // namespace heddle::record
