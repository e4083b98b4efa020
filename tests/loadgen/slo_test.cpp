// Service level objectives: what they say and when they are met.
#include "loadgen/record/slo.hpp"

#include "loadgen/report/slo.hpp"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::record {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kSecondNanos = 1'000'000'000;

// `count` answers of `micros`, one after the other, over ten seconds.
RunResult answered(std::int64_t count, std::int64_t micros) {
  RunResult result;
  result.info.classes = {"get", "post"};
  StageResult stage{"measure", true, 0, 10 * kSecondNanos, {}};
  stage.classes.resize(2);
  auto& cell = stage.classes[0];
  cell.counts.planned = cell.counts.sent = cell.counts.ok = cell.counts.ok_in_time = count;
  for (std::int64_t i = 0; i < count; ++i) {
    cell.latency.answered.record(micros);
    cell.service.answered.record(micros / 2);
  }
  result.stages.push_back(stage);
  return result;
}

SloResult judged(const RunResult& result, std::string_view text) {
  const auto results = judge_slo(parse_slo(text), result);
  EXPECT_EQ(results.size(), 1U);
  return results.front();
}

std::string refusal(std::string_view text) {
  try {
    (void)parse_slo(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Slo, ReadsKeysUnitsAndRequests) {
  const auto list =
      parse_slo("p50=500us,p999=1.5s,max=2s,service-p99=20ms,errors=0.1%,rate=99%,get:ok-rate=50/s");
  ASSERT_EQ(list.size(), 7U);
  EXPECT_DOUBLE_EQ(list[0].limit, 0.5);
  EXPECT_DOUBLE_EQ(list[1].limit, 1500);
  EXPECT_DOUBLE_EQ(list[1].quantile, 0.999);
  EXPECT_DOUBLE_EQ(list[2].quantile, 1);
  EXPECT_EQ(list[3].measure, SloMeasure::service);
  EXPECT_EQ(list[4].measure, SloMeasure::errors);
  EXPECT_DOUBLE_EQ(list[4].limit, 0.1);
  EXPECT_EQ(list[5].measure, SloMeasure::rate);
  EXPECT_EQ(list[6].measure, SloMeasure::ok_rate);
  EXPECT_EQ(list[6].request_class, "get");
  EXPECT_EQ(list[6].name, "get:ok-rate");
  EXPECT_EQ(list[6].text, "get:ok-rate=50/s");
}

TEST(Slo, ANameMayHoldColonsAndEqualsSigns) {
  EXPECT_EQ(parse_slo("a:b=c:p99=1ms").front().request_class, "a:b=c");
}

TEST(Slo, RefusesWhatItCannotMean) {
  for (const char* bad :
       {"",           "p99",      "p99=",       "p99=150",          "p99=150m",          "p99=-1ms",
        "p99=nanms",  "p95=1ms",  "errors=0.1", "errors=101%",      "rate=5/s",          "ok-rate=5",
        "ok-rate=5%", ":p99=1ms", "p99=1ms,",   "p99=1ms,,p50=1ms", "service-errors=1%", "p99=1ms p50=1ms",
        "p99=infms",  "p99 =1ms"}) {
    EXPECT_THAT(refusal(bad), HasSubstr("accepted: [REQUEST:]KEY=LIMIT")) << bad;
  }
  EXPECT_EQ(refusal("p99=1ms,p99=2ms"), "found 'p99' twice, accepted: each key once");
}

TEST(Slo, ChecksRequestsAndRates) {
  const std::vector<std::string> classes{"get", "post"};
  EXPECT_NO_THROW(check_slo(parse_slo("get:p99=1ms,rate=99%"), classes, true));
  EXPECT_THROW(check_slo(parse_slo("put:p99=1ms"), classes, true), std::invalid_argument);
  EXPECT_THROW(check_slo(parse_slo("rate=99%"), classes, false), std::invalid_argument);
  EXPECT_NO_THROW(check_slo(parse_slo("ok-rate=9/s"), classes, false));
}

TEST(Slo, AValueEqualToItsLimitIsMet) {
  const auto result = answered(20'000, 150'000);
  EXPECT_EQ(judged(result, "p99=150ms").state, SloState::met);
  EXPECT_EQ(judged(result, "max=150ms").state, SloState::met);
  EXPECT_EQ(judged(result, "service-p50=75ms").state, SloState::met);
  const auto missed = judged(result, "p99=149ms");
  EXPECT_EQ(missed.state, SloState::missed);
  EXPECT_EQ(missed.reason, "150 ms is over 149 ms");
  EXPECT_DOUBLE_EQ(missed.value.value(), 150);
  // 20,000 answers in the 9.85 s in which answers of 150 ms can come: 2030.46 a second.
  EXPECT_EQ(judged(result, "ok-rate=2030/s").state, SloState::met);
  EXPECT_EQ(judged(result, "ok-rate=2031/s").state, SloState::missed);
}

TEST(Slo, SharesAreExactAtTheirLimit) {
  auto result = answered(1000, 1000);
  auto& counts = result.stages[0].classes[0].counts;
  counts.planned = 1000;
  counts.ok = counts.ok_in_time = 997;
  counts.timeouts = 2;
  counts.in_flight = 1;
  EXPECT_EQ(judged(result, "errors=0.3%").state, SloState::met);
  EXPECT_EQ(judged(result, "errors=0.29%").state, SloState::missed);
  EXPECT_EQ(judged(result, "rate=99.7%").state, SloState::met);
  EXPECT_EQ(judged(result, "rate=99.8%").state, SloState::missed);
  counts.planned = 2000;
  counts.unsent = 1000;
  EXPECT_EQ(judged(result, "rate=99%").reason, "49.855 % is under 99 %");
}

TEST(Slo, TooFewSamplesAreUnknown) {
  const auto result = answered(9'999, 1000);
  const auto p99 = judged(result, "p99=150ms");
  EXPECT_EQ(p99.state, SloState::unknown);
  EXPECT_FALSE(p99.value);
  EXPECT_EQ(p99.reason, "9999 requests were measured, this percentile needs 10000");
  EXPECT_FALSE(all_met({p99}));
  EXPECT_EQ(judged(answered(10'000, 1000), "p99=150ms").state, SloState::met);
  EXPECT_EQ(judge_slo(parse_slo("p99=150ms"), answered(1'000, 1000), 10).front().state, SloState::met);
  EXPECT_EQ(samples_needed(parse_slo("p50=1s,p99=1s,max=1s"), 100), 10'000);
  EXPECT_EQ(samples_needed(parse_slo("p999=1s"), 10), 10'000);
  EXPECT_EQ(samples_needed(parse_slo("max=1s,errors=1%"), 100), 0);
}

TEST(Slo, ALowerBoundIsMissedAboveTheLimitAndUnknownBelow) {
  auto result = answered(19'000, 1000);
  auto& cell = result.stages[0].classes[0];
  for (int i = 0; i < 1000; ++i) cell.latency.waiting.record(2'000'000);
  const auto above = judged(result, "p99=150ms");
  EXPECT_EQ(above.state, SloState::missed);
  EXPECT_TRUE(above.at_least);
  EXPECT_THAT(above.reason, HasSubstr(">="));
  const auto below = judged(result, "p99=5s");
  EXPECT_EQ(below.state, SloState::unknown);
  EXPECT_THAT(below.reason, HasSubstr("1000 requests without an answer"));
  EXPECT_EQ(judged(result, "p50=5ms").state, SloState::met);
  EXPECT_EQ(judged(result, "max=5s").state, SloState::unknown);
  EXPECT_EQ(judged(result, "max=1s").state, SloState::missed);
}

TEST(Slo, JudgesARequestByItself) {
  auto result = answered(1000, 1000);
  auto& post = result.stages[0].classes[1];
  post.counts.planned = post.counts.sent = 100;
  post.counts.http_errors[5] = 100;
  EXPECT_EQ(judged(result, "get:errors=0%").state, SloState::met);
  EXPECT_EQ(judged(result, "post:errors=50%").state, SloState::missed);
  EXPECT_EQ(judged(result, "errors=10%").state, SloState::met);
  EXPECT_EQ(judged(result, "post:p50=1s").reason, "no request was measured");
}

TEST(Slo, NothingMeasuredIsUnknown) {
  const RunResult nothing;
  for (const char* text : {"p99=1s", "errors=1%", "rate=1%", "ok-rate=0/s"}) {
    EXPECT_EQ(judged(nothing, text).state, SloState::unknown) << text;
    EXPECT_FALSE(judged(nothing, text).reason.empty());
  }
  EXPECT_EQ(judged(answered(0, 0), "errors=1%").state, SloState::unknown);
  EXPECT_TRUE(all_met({}));
}

TEST(Slo, ALateGeneratorLeavesTheCauseOpen) {
  auto result = answered(20'000, 150'000);
  result.generator.verdict = Verdict::late;
  EXPECT_EQ(judged(result, "p99=149ms").reason,
            "150 ms is over 149 ms; the generator was late: the server need not be the cause");
  EXPECT_EQ(judged(result, "p99=150ms").reason, "");
}

TEST(Slo, UsersHaveNoRateToBeMet) {
  auto result = answered(1000, 1000);
  result.info.users = true;
  EXPECT_EQ(judged(result, "rate=99%").state, SloState::unknown);
  EXPECT_EQ(judged(result, "ok-rate=100/s").state, SloState::met);
}

TEST(Slo, IsReportedWithValueStateAndReason) {
  auto result = answered(19'000, 1000);
  for (int i = 0; i < 1000; ++i) result.stages[0].classes[0].latency.waiting.record(2'000'000);
  const auto results = judge_slo(parse_slo("p50=5ms,p99=150ms,post:p99=1s"), result);
  const auto json = report::slo_json(results);
  ASSERT_EQ(json.size(), 3U);
  EXPECT_EQ(boost::json::serialize(json[0]),
            R"({"objective":"p50","limit":5E0,"unit":"ms","value":1E0,"state":"met","reason":null})");
  EXPECT_TRUE(json[1].at("value").as_string().starts_with(">="));
  EXPECT_EQ(json[1].at("state").as_string(), "missed");
  EXPECT_TRUE(json[2].at("value").is_null());
  EXPECT_EQ(json[2].at("state").as_string(), "unknown");
  const auto text = report::slo_table(results);
  EXPECT_THAT(text, HasSubstr("p50                                <= 5 ms            1 ms  met\n"));
  EXPECT_THAT(text, HasSubstr("unknown: no request was measured\n"));
  EXPECT_EQ(report::slo_table({}), "");
}

}  // namespace
}  // namespace heddle::record
