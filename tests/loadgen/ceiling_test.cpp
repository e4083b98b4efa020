// A stored calibration and what a run makes of it.
#include "loadgen/calibrate/ceiling_note.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::load {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const HostId kHere{"CPU X", "6.1.0", 4};

void as_it_is(Calibration&) {}

std::string stored_text(const std::string& kernel = "6.1.0", void (*change)(Calibration&) = as_it_is) {
  Calibration c;
  c.utc = "2026-01-31T12:34:56.789Z";
  c.host = {"CPU X", kernel, 2};
  CeilingPoint few;
  few.connections = 64;
  few.per_second = {10'000, 9'000, 11'000};
  CeilingPoint many = few;
  many.connections = 1000;
  many.per_second.median = 8'000;
  c.ceiling = {many, few};
  c.run_delay_share = 0.05;  // as much as may be
  c.stall.due_millis = c.stall.sent_millis = 0;
  change(c);
  return boost::json::serialize(calibration_json(c));
}

class CeilingFile : public ::testing::Test {
 protected:
  CeilingFile() {
    std::string name = std::filesystem::temp_directory_path() / "heddle-ceiling-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~CeilingFile() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::filesystem::path file_with(const std::string& text) const {
    const auto file = folder_ / "calibration.json";
    std::ofstream{file} << text;
    return file;
  }
  std::filesystem::path folder_;
};

plan::Plan plan_with(plan::Arrivals arrivals, std::int64_t connections = 64, std::int64_t threads = 1) {
  plan::Plan plan;
  plan.connections = connections;
  plan.threads = threads;
  plan.stages = {{"warm", plan::StageKind::warmup, plan::kSecond, arrivals},
                 {"measure", plan::StageKind::measure, plan::kSecond, arrivals}};
  return plan;
}

record::RunResult result_with(std::int64_t sent) {
  record::RunResult result;
  record::StageResult stage;
  stage.end_nanos = plan::kSecond;
  stage.classes.resize(1);
  stage.classes[0].counts.sent = sent;
  result.stages.push_back(std::move(stage));
  return result;
}

TEST_F(CeilingFile, TheNearestConnectionCountCountsAndTheLowerCeilingInBetween) {
  const auto stored = parse_ceiling(stored_text());
  EXPECT_EQ(ceiling_at(stored, 1), 10'000);
  EXPECT_EQ(ceiling_at(stored, 64), 10'000);
  EXPECT_EQ(ceiling_at(stored, 65), 8'000);
  EXPECT_EQ(ceiling_at(stored, 1000), 8'000);
  EXPECT_EQ(ceiling_at(stored, 60'000), 8'000);
  auto rising = stored;
  rising.points[1].per_second_per_thread = 20'000;
  EXPECT_EQ(ceiling_at(rising, 500), 10'000);
}

TEST_F(CeilingFile, TheHighestRateOfTheMeasureStagesCounts) {
  auto plan = plan_with(plan::ConstantRate{100});
  plan.stages[0].arrivals = plan::ConstantRate{9'000};  // a warm-up is not measured
  EXPECT_EQ(peak_rate(plan), 100);
  plan.stages.push_back({"ramp", plan::StageKind::measure, plan::kSecond, plan::RateRamp{300, 200}});
  EXPECT_EQ(peak_rate(plan), 300);
  plan.stages.push_back({"random", plan::StageKind::measure, plan::kSecond, plan::Poisson{400}});
  EXPECT_EQ(peak_rate(plan), 400);
  EXPECT_EQ(peak_rate(plan_with(plan::Users{10})), 0);
}

TEST_F(CeilingFile, OnlyMoreThanSixtyPercentIsWorthAWord) {
  const auto file = file_with(stored_text());
  const auto below = ceiling_note(plan_with(plan::ConstantRate{5'990}), file, kHere);
  ASSERT_TRUE(below.ceiling);
  EXPECT_NEAR(below.ceiling->share, 0.599, 1e-9);
  EXPECT_EQ(below.message, "");
  const auto exactly = ceiling_note(plan_with(plan::ConstantRate{6'000}), file, kHere);
  EXPECT_EQ(exactly.message, "");
  const auto above = ceiling_note(plan_with(plan::ConstantRate{6'010}), file, kHere);
  EXPECT_THAT(above.message, AllOf(HasSubstr("60.1 %"), HasSubstr("10000 requests per second and thread"),
                                   HasSubstr("2026-01-31")));
  record::RunResult result;
  EXPECT_EQ(conclude_ceiling(above, plan_with(plan::ConstantRate{6'010}), result), "");
  ASSERT_TRUE(result.generator.ceiling);
  EXPECT_EQ(result.generator.ceiling->per_second_per_thread, 10'000);
  EXPECT_EQ(result.generator.ceiling->calibrated, "2026-01-31T12:34:56.789Z");
}

TEST_F(CeilingFile, TheRateIsSharedOutOverTheThreads) {
  const auto file = file_with(stored_text());
  const auto note = ceiling_note(plan_with(plan::ConstantRate{12'000}, 128, 2), file, kHere);
  EXPECT_NEAR(note.ceiling->share, 0.6, 1e-9);
  // There is no thread without a connection.
  EXPECT_NEAR(ceiling_note(plan_with(plan::ConstantRate{6'000}, 2, 8), file, kHere).ceiling->share, 0.3,
              1e-9);
}

TEST_F(CeilingFile, UsersAreJudgedByWhatTheyReached) {
  const auto plan = plan_with(plan::Users{64});
  const auto note = ceiling_note(plan, file_with(stored_text()), kHere);
  EXPECT_FALSE(note.ceiling);
  EXPECT_EQ(note.message, "");
  auto slow = result_with(5'900);
  EXPECT_EQ(conclude_ceiling(note, plan, slow), "");
  EXPECT_NEAR(slow.generator.ceiling->share, 0.59, 1e-9);
  auto fast = result_with(7'500);
  EXPECT_THAT(conclude_ceiling(note, plan, fast), HasSubstr("75.0 %"));
  record::RunResult nothing;  // the run never came to its measure stage
  EXPECT_EQ(conclude_ceiling(note, plan, nothing), "");
  EXPECT_FALSE(nothing.generator.ceiling);
}

TEST_F(CeilingFile, WithoutACalibrationNothingIsSaid) {
  setenv("XDG_STATE_HOME", folder_.c_str(), 1);
  const auto plan = plan_with(plan::ConstantRate{1e6});
  const auto note = ceiling_note(plan, {}, kHere);
  unsetenv("XDG_STATE_HOME");
  EXPECT_EQ(note.message, "");
  auto result = result_with(1);
  EXPECT_EQ(conclude_ceiling(note, plan, result), "");
  EXPECT_FALSE(result.generator.ceiling);
}

TEST_F(CeilingFile, OneThatWasAskedForIsMissed) {
  const auto note = ceiling_note(plan_with(plan::ConstantRate{1}), folder_ / "none.json", kHere);
  EXPECT_THAT(note.message, AllOf(HasSubstr("none.json is ignored"), HasSubstr("No such file")));
  EXPECT_FALSE(note.stored);
}

TEST_F(CeilingFile, AnotherHostsIsIgnored) {
  const auto note =
      ceiling_note(plan_with(plan::ConstantRate{9'000}), file_with(stored_text("5.10.0")), kHere);
  EXPECT_THAT(note.message, AllOf(HasSubstr("is ignored"), HasSubstr("5.10.0"), HasSubstr("6.1.0")));
  EXPECT_FALSE(note.stored);
  EXPECT_FALSE(note.ceiling);
  // The number of CPUs that a process may use is no other host.
  EXPECT_TRUE(kHere.same_host({"CPU X", "6.1.0", 1}));
}

TEST_F(CeilingFile, OneThatFailedOrWasDisturbedGivesNoCeiling) {
  const auto message_with = [&](void (*change)(Calibration&)) {
    const auto plan = plan_with(plan::ConstantRate{9'000});
    const auto note = ceiling_note(plan, file_with(stored_text("6.1.0", change)), kHere);
    EXPECT_FALSE(note.stored);
    EXPECT_FALSE(note.ceiling);
    auto result = result_with(9'000);
    EXPECT_EQ(conclude_ceiling(note, plan, result), "");
    EXPECT_FALSE(result.generator.ceiling);
    return note.message;
  };
  EXPECT_THAT(message_with([](Calibration& c) { c.stall.sent_millis = 1; }),
              AllOf(HasSubstr("is ignored: its check with a stall"), HasSubstr("quiet host")));
  EXPECT_THAT(message_with([](Calibration& c) { c.run_delay_share = 0.051; }),
              HasSubstr("is ignored: a thread waited 5.1 % of the time for its CPU, over 5 %"));
}

TEST_F(CeilingFile, AMalformedOneIsIgnoredAndTheMessageSaysWhere) {
  const auto message_of = [&](const std::string& text) {
    const auto note = ceiling_note(plan_with(plan::ConstantRate{1}), file_with(text), kHere);
    EXPECT_FALSE(note.stored) << text;
    EXPECT_THAT(note.message, HasSubstr("heddle-load --calibrate")) << text;
    return note.message;
  };
  EXPECT_THAT(message_of(""), HasSubstr("no valid JSON"));
  EXPECT_THAT(message_of("{"), HasSubstr("no valid JSON"));
  EXPECT_THAT(message_of("[]"), HasSubstr("accepted: an object"));
  EXPECT_THAT(message_of("{}"), HasSubstr("schema: found nothing, accepted: 1"));
  EXPECT_THAT(message_of(R"({"schema": 2})"), HasSubstr("schema: found 2, accepted: 1"));
  const auto with = [](const std::string& rest) {
    return R"({"schema": 1, "utc": "t", "host": {"cpuModel": "CPU X", "kernel": "6.1.0", "cpus": 2})" + rest +
           "}";
  };
  EXPECT_THAT(message_of(with("")), HasSubstr("ceiling: found nothing"));
  EXPECT_THAT(message_of(with(R"(, "ceiling": [])")), HasSubstr("ceiling: found []"));
  EXPECT_THAT(message_of(with(R"(, "ceiling": [7])")), HasSubstr("ceiling[0]: found 7"));
  EXPECT_THAT(message_of(with(R"(, "ceiling": [{"connectionsPerThread": 64}])")),
              HasSubstr("ceiling[0].perSecondPerThread: found nothing, accepted: an object"));
  EXPECT_THAT(
      message_of(with(R"(, "ceiling": [{"connectionsPerThread": 64, "perSecondPerThread": {"median": 0}}])")),
      HasSubstr("ceiling[0].perSecondPerThread.median: found 0, accepted: a number above 0"));
  const auto point = R"(, "ceiling": [{"connectionsPerThread": 64, "perSecondPerThread": {"median": 1}}])";
  EXPECT_THAT(message_of(with(point)), HasSubstr("passed: found nothing, accepted: true or false"));
  EXPECT_THAT(message_of(with(std::string{point} + R"(, "passed": true, "runDelayPercent": "no")")),
              HasSubstr("runDelayPercent: found \"no\""));
}

}  // namespace
}  // namespace heddle::load
