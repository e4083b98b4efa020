// The search for the highest rate, with simulated servers.
#include "loadgen/commands/rate_search.hpp"
#include "loadgen/commands/search_report.hpp"
#include "loadgen/commands/step_length.hpp"

#include <functional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::load {
namespace {

struct Walk {
  SearchResult result;
  std::vector<Step> steps;
};

Walk walk(const SearchSettings& settings, const std::function<StepVerdict(const Step&)>& server) {
  constexpr std::size_t more_than_any_search = 1000;
  RateSearch search{settings};
  Walk out;
  while (const auto step = search.next()) {
    EXPECT_GE(step->rate, settings.from);
    EXPECT_LE(step->rate, settings.to);
    out.steps.push_back(*step);
    if (out.steps.size() > more_than_any_search) break;
    search.record(server(*step));
  }
  EXPECT_LT(out.steps.size(), more_than_any_search);
  out.result = search.result();
  return out;
}

std::function<StepVerdict(const Step&)> capacity(double rate) {
  return [rate](const Step& step) { return step.rate <= rate ? StepVerdict::met : StepVerdict::missed; };
}

TEST(RateSearch, FindsTheCapacityToThePrecision) {
  for (const double truth : {100.0, 101.0, 777.0, 12'345.0, 999'999.0}) {
    const auto [result, steps] = walk({}, capacity(truth));
    ASSERT_TRUE(result.rate) << truth;
    EXPECT_LE(*result.rate, truth);
    EXPECT_GT(*result.rate * 1.06, truth);
    EXPECT_EQ(result.low, result.rate);
    ASSERT_TRUE(result.high) << truth;
    EXPECT_GT(*result.high, truth);
    EXPECT_LE(*result.high, *result.low * 1.051);
    EXPECT_EQ(result.bounded_by, BoundedBy::slo);
    EXPECT_EQ(result.repeats_passed, 5);
    EXPECT_LT(steps.size(), 40U);
  }
}

TEST(RateSearch, EndsWithTheRepeatsOfTheResult) {
  const auto [result, steps] = walk({.from = 10, .repeats = 3}, capacity(1000));
  ASSERT_GE(steps.size(), 3U);
  for (int i = 0; i < 3; ++i) {
    const auto& step = steps[steps.size() - 3 + static_cast<std::size_t>(i)];
    EXPECT_TRUE(step.confirms);
    EXPECT_EQ(step.repeat, i + 1);
    EXPECT_EQ(step.rate, *result.rate);
  }
}

TEST(RateSearch, NothingMetAtTheLowestRate) {
  const auto [result, steps] = walk({}, capacity(1));
  EXPECT_FALSE(result.rate);
  EXPECT_FALSE(result.low);
  EXPECT_EQ(result.high, 100.0);
  EXPECT_EQ(result.bounded_by, BoundedBy::slo);
  EXPECT_EQ(steps.size(), 2U);
}

TEST(RateSearch, EverythingMetUpToTheLimit) {
  const auto [result, steps] = walk({.from = 100, .to = 1000}, capacity(1e9));
  EXPECT_EQ(result.rate, 1000.0);
  EXPECT_EQ(result.low, 1000.0);
  EXPECT_FALSE(result.high);
  EXPECT_EQ(result.bounded_by, BoundedBy::limit);
  EXPECT_EQ(steps.size(), 10U);  // 100, 200, 400, 800, 1000 and five repeats
}

TEST(RateSearch, OneRateOnly) {
  const auto [result, steps] = walk({.from = 70, .to = 70, .repeats = 1}, capacity(70));
  EXPECT_EQ(result.rate, 70.0);
  EXPECT_EQ(steps.size(), 2U);
}

TEST(RateSearch, TheGeneratorIsNeverTakenForTheServer) {
  const auto [result, steps] = walk(
      {}, [](const Step& step) { return step.rate <= 5000 ? StepVerdict::met : StepVerdict::generator; });
  EXPECT_EQ(result.rate, 3200.0);
  EXPECT_EQ(result.low, 3200.0);
  EXPECT_FALSE(result.high);
  EXPECT_EQ(result.bounded_by, BoundedBy::generator);
  EXPECT_EQ(result.generator_limit, 6400.0);
}

TEST(RateSearch, AGeneratorThatIsAlwaysLateConfirmsNothing) {
  const auto [result, steps] = walk({}, [](const Step&) { return StepVerdict::generator; });
  EXPECT_FALSE(result.rate);
  EXPECT_EQ(result.bounded_by, BoundedBy::generator);
  EXPECT_EQ(steps.size(), 2U);
}

TEST(RateSearch, RepeatsWithoutAVerdictAreTriedAgainButNotForEver) {
  int number = 0;
  const auto some = walk({.from = 100, .to = 100}, [&number](const Step& step) {
    // Every second repeat: never twice in a row.
    return step.confirms && ++number % 2 == 1 ? StepVerdict::generator : StepVerdict::met;
  });
  EXPECT_EQ(some.result.rate, 100.0);
  EXPECT_EQ(some.result.repeats_passed, 5);
  EXPECT_EQ(some.result.bounded_by, BoundedBy::limit);
  const auto all = walk({.from = 100, .to = 100}, [](const Step& step) {
    return step.confirms ? StepVerdict::generator : StepVerdict::met;
  });
  EXPECT_FALSE(all.result.rate);
  EXPECT_EQ(all.result.bounded_by, BoundedBy::generator);
  EXPECT_EQ(all.steps.size(), 3U);  // one of the search, two without a verdict
}

TEST(RateSearch, ARateThatTheGeneratorCannotConfirmGivesWayToTheBestBelow) {
  const auto [result, steps] = walk({.from = 100, .to = 400}, [](const Step& step) {
    return step.confirms && step.rate > 200 ? StepVerdict::generator : StepVerdict::met;
  });
  EXPECT_EQ(result.rate, 200.0);
  EXPECT_EQ(result.low, 200.0);
  EXPECT_EQ(result.repeats_passed, 5);
  EXPECT_EQ(result.bounded_by, BoundedBy::generator);
  EXPECT_EQ(result.generator_limit, 400.0);
  EXPECT_EQ(steps.size(), 10U);  // 100, 200, 400, two repeats there, five at 200
}

TEST(RateSearch, TheGeneratorIsTheLimitOnlyTwiceInARow) {
  // 100: missed, without a verdict, missed. That is the server's.
  int number = 0;
  const auto [result, steps] = walk(
      {}, [&number](const Step&) { return ++number == 2 ? StepVerdict::generator : StepVerdict::missed; });
  EXPECT_FALSE(result.rate);
  EXPECT_EQ(result.bounded_by, BoundedBy::slo);
  EXPECT_FALSE(result.generator_limit);
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[2].repeat, 3);
}

TEST(RateSearch, OneHiccupDoesNotEndTheSearch) {
  int number = 0;
  const auto [result, steps] = walk({.to = 100'000}, [&number](const Step& step) {
    ++number;
    if (number == 3) return StepVerdict::missed;     // at 400
    if (number == 5) return StepVerdict::generator;  // at 800
    return step.rate <= 10'000 ? StepVerdict::met : StepVerdict::missed;
  });
  ASSERT_TRUE(result.rate);
  EXPECT_GT(*result.rate, 9'400);
  EXPECT_EQ(steps[3].repeat, 2);
  EXPECT_EQ(steps[3].rate, 400.0);
}

TEST(RateSearch, OneFailedRepeatIsAllowedAndTheIntervalBeginsThere) {
  int repeats = 0;
  const auto [result, steps] = walk({.from = 100, .to = 100}, [&repeats](const Step& step) {
    return step.confirms && ++repeats == 2 ? StepVerdict::missed : StepVerdict::met;
  });
  EXPECT_EQ(result.rate, 100.0);
  EXPECT_EQ(result.repeats_passed, 4);
  EXPECT_EQ(result.low, 100.0);
}

TEST(RateSearch, ARateThatPassedByLuckIsLowered) {
  // Single steps pass up to 1000, repeats only up to 800.
  const auto [result, steps] =
      walk({}, [](const Step& step) { return capacity(step.confirms ? 800 : 1000)(step); });
  ASSERT_TRUE(result.rate);
  EXPECT_LE(*result.rate, 800);
  EXPECT_GT(*result.rate, 740);
  EXPECT_EQ(result.low, result.rate);
  ASSERT_TRUE(result.high);
  EXPECT_GT(*result.high, 800);
  EXPECT_LT(*result.high, 860);
}

TEST(RateSearch, RepeatsThatNeverPassEndAtTheLowestRate) {
  const auto [result, steps] = walk({.from = 500}, [](const Step& step) {
    return step.confirms || step.rate > 1000 ? StepVerdict::missed : StepVerdict::met;
  });
  EXPECT_FALSE(result.rate);
  EXPECT_EQ(result.high, 500.0);
  EXPECT_EQ(result.bounded_by, BoundedBy::slo);
}

TEST(RateSearch, ANoisyServerGivesARateNearItsCapacity) {
  // Steps within a tenth of the capacity pass or fail by chance.
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    std::uint64_t state = seed * 0x9e3779b97f4a7c15ULL;
    const auto server = [&state](const Step& step) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      const double noise = 0.2 * (static_cast<double>(state >> 11) * 0x1.0p-53 - 0.5);
      return step.rate <= 5000 * (1 + noise) ? StepVerdict::met : StepVerdict::missed;
    };
    const auto [result, steps] = walk({}, server);
    ASSERT_TRUE(result.rate) << seed;
    EXPECT_GT(*result.rate, 4000) << seed;
    EXPECT_LT(*result.rate, 5500) << seed;
    EXPECT_LT(result.low.value_or(0), result.high.value_or(1e9)) << seed;
  }
}

record::RunResult run_with(record::Verdict generator, bool met) {
  record::RunResult result;
  result.generator.verdict = generator;
  result.slo.push_back(
      {"p99", "ms", 1, 2, false, met ? record::SloState::met : record::SloState::missed, "2 > 1"});
  record::StageResult stage{"measure", true, 0, 2'000'000'000, {}};
  stage.classes.resize(1);
  auto& counts = stage.classes[0].counts;
  counts.planned = counts.sent = 100;
  counts.ok = 80;
  counts.timeouts = 15;
  counts.in_flight = 5;
  result.stages.push_back(stage);
  result.throughput.emplace().ok_per_second = 40;
  return result;
}

TEST(StepReport, TellsServerAndGeneratorApart) {
  using record::Verdict;
  const auto verdict = [](Verdict generator, bool met, bool strict) {
    return report_of({}, 10, strict, run_with(generator, met)).verdict;
  };
  EXPECT_EQ(verdict(Verdict::ok, true, false), StepVerdict::met);
  EXPECT_EQ(verdict(Verdict::ok, false, false), StepVerdict::missed);
  EXPECT_EQ(verdict(Verdict::late, true, false), StepVerdict::met);
  EXPECT_EQ(verdict(Verdict::late, true, true), StepVerdict::generator);
  EXPECT_EQ(verdict(Verdict::late, false, false), StepVerdict::generator);
  EXPECT_EQ(verdict(Verdict::saturated, true, false), StepVerdict::generator);
  auto failed = run_with(Verdict::late, false);
  failed.status = record::Status::failed;
  failed.reason = "no connection could be opened";
  const auto report = report_of({}, 10, false, failed);
  EXPECT_EQ(report.verdict, StepVerdict::missed);
  EXPECT_EQ(report.reason, "no connection could be opened");
}

TEST(StepReport, CountsWhatWasAchieved) {
  const auto report = report_of({}, 10, false, run_with(record::Verdict::ok, false));
  EXPECT_DOUBLE_EQ(report.achieved, 40);
  EXPECT_DOUBLE_EQ(report.error_percent, 20);
  EXPECT_EQ(report.duration, 2'000'000'000);
  EXPECT_FALSE(report.p99);
  EXPECT_EQ(report.reason, "p99: 2 > 1");
}

TEST(StepReport, AStepNearTheGeneratorsCeilingSaysSo) {
  auto near = run_with(record::Verdict::ok, true);
  near.generator.ceiling = record::Ceiling{1000, 0.65, "2026-01-31"};
  const auto report = report_of({650, false, 1}, 10, false, near);
  EXPECT_THAT(step_line(report, 1), ::testing::HasSubstr("met; 65.0 % of this host's calibrated ceiling"));
  near.generator.ceiling->share = 0.6;
  EXPECT_THAT(step_line(report_of({}, 10, false, near), 1), ::testing::Not(::testing::HasSubstr("ceiling")));
  SearchReport search;
  search.steps = {report, report_of({}, 10, false, run_with(record::Verdict::ok, true))};
  const auto json = search_json(search, {});
  const auto& steps = json.at("steps").as_array();
  EXPECT_DOUBLE_EQ(steps[0].at("ceilingPercent").as_double(), 65);
  EXPECT_TRUE(steps[1].at("ceilingPercent").is_null());
}

TEST(StepLength, IsThatOfThePercentilesAtLowRates) {
  const auto objectives = record::parse_slo("p99=150ms,errors=1%");
  const StepLength length{objectives, 5 * plan::kSecond};
  EXPECT_EQ(length.at(10'000, record::kSamplesAbove), 5 * plan::kSecond);
  EXPECT_EQ(length.at(100, record::kSamplesAbove), 110 * plan::kSecond);          // 11,000 requests
  EXPECT_EQ(length.at(100, record::kSamplesAboveForCharts), 11 * plan::kSecond);  // 1,100
  EXPECT_EQ(length.text(100),
            "steps of 5 s, longer at low rates: the percentiles of --slo need 1100 requests while the search "
            "goes on, 11000 in a repeat; at 100 requests per second 11.0 s and 110.0 s\n");
  EXPECT_EQ(length.text(100'000), "steps of 5 s\n");
  const auto others = record::parse_slo("errors=1%,max=1s");
  EXPECT_EQ((StepLength{others, plan::kSecond}.text(0.001)), "steps of 1 s\n");
}

TEST(StepLength, AnHourIsTheMost) {
  const auto objectives = record::parse_slo("p99=150ms");
  const StepLength length{objectives, plan::kSecond};
  EXPECT_NO_THROW(length.check(3.06));
  EXPECT_NO_THROW((StepLength{record::parse_slo("errors=1%"), plan::kSecond}.check(1e-6)));
  try {
    length.check(1e-6);
    ADD_FAILURE() << "no error";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "--from: found 1e-06, accepted: 3.056 or more: the percentiles of --slo need 11000 requests "
                 "in each repeat, which at the lowest rate is 3055555.6 hours, over 1");
  }
  EXPECT_NO_THROW(length.check(3.056));
  // 11,000 requests at this rate are more nanoseconds than 64 bits hold.
  EXPECT_EQ(length.at(1e-6, record::kSamplesAbove), 3600 * plan::kSecond);
}

SearchReport confirmed() {
  SearchReport report;
  report.running = false;
  for (const double achieved : {98.0, 100.0, 99.0, 97.0}) {
    auto step = report_of({100, true, 1}, 100, false, run_with(record::Verdict::ok, true));
    step.achieved = achieved;
    report.steps.push_back(step);
  }
  report.steps[3].verdict = StepVerdict::generator;
  report.result = {100, 100, 105, 3, BoundedBy::slo, {}};
  return report;
}

TEST(SearchReport, IsOneDocument) {
  Options options;
  options.search.repeats = 3;
  const auto json = search_json(confirmed(), options);
  const auto& result = json.at("result").as_object();
  EXPECT_EQ(json.at("schema").as_int64(), 1);
  EXPECT_EQ(json.at("status").as_string(), "complete");
  EXPECT_EQ(json.at("steps").as_array().size(), 4U);
  EXPECT_DOUBLE_EQ(result.at("rate").as_double(), 100);
  EXPECT_DOUBLE_EQ(result.at("high").as_double(), 105);
  EXPECT_EQ(result.at("boundedBy").as_string(), "slo");
  const auto& achieved = result.at("achieved").as_object();
  EXPECT_DOUBLE_EQ(achieved.at("min").as_double(), 98);
  EXPECT_DOUBLE_EQ(achieved.at("median").as_double(), 99);
  EXPECT_DOUBLE_EQ(achieved.at("max").as_double(), 100);
}

TEST(SearchReport, NothingKnownIsNull) {
  SearchReport report;
  const auto json = search_json(report, {});
  EXPECT_EQ(json.at("status").as_string(), "running");
  for (const char* key : {"rate", "low", "high", "boundedBy", "achieved", "generatorLimit"}) {
    EXPECT_TRUE(json.at("result").as_object().at(key).is_null()) << key;
  }
}

TEST(SearchReport, TextForPeople) {
  Options options;
  options.search.repeats = 3;
  const auto text = search_text(confirmed(), options);
  EXPECT_THAT(text, ::testing::HasSubstr("confirmed    100 requests per second: 3 of 3 repeats passed\n"));
  EXPECT_THAT(text, ::testing::HasSubstr("confirmed at 100/s, the lowest rate that failed is 105/s\n"));
  EXPECT_THAT(text, ::testing::HasSubstr("98.0 ok/s at least, 99.0 median, 100.0 at most\n"));
}

}  // namespace
}  // namespace heddle::load
