// Exact due times, in simulated time: nothing here looks at a clock.
#include "loadgen/plan/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::plan {
namespace {

using ::testing::ElementsAre;

constexpr Nanos operator""_s(unsigned long long seconds) {
  return static_cast<Nanos>(seconds) * kSecond;
}
constexpr Nanos operator""_ms(unsigned long long millis) {
  return static_cast<Nanos>(millis) * kMillisecond;
}

Stage stage(Nanos duration, Arrivals arrivals) {
  return {"stage", StageKind::measure, duration, arrivals};
}

std::vector<Arrival> walk(std::span<const Stage> stages, std::uint32_t thread = 0, std::uint32_t threads = 1,
                          std::uint64_t seed = 1) {
  std::vector<Arrival> arrivals;
  for (ArrivalCursor cursor{stages, 0, seed, thread, threads}; cursor.peek(); cursor.advance()) {
    arrivals.push_back(*cursor.peek());
  }
  return arrivals;
}

std::vector<Nanos> dues(std::span<const Stage> stages, std::uint32_t threads = 1, std::uint64_t seed = 1) {
  std::vector<Nanos> all;
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    for (const auto& arrival : walk(stages, thread, threads, seed)) all.push_back(arrival.due);
  }
  std::sort(all.begin(), all.end());
  return all;
}

TEST(ConstantRate, CountIsTheFloorOfTheIntegral) {
  EXPECT_EQ(arrival_count(stage(3_s, ConstantRate{2})), 6);
  EXPECT_EQ(arrival_count(stage(3_s, ConstantRate{0.5})), 1);
  EXPECT_EQ(arrival_count(stage(1_s, ConstantRate{0.5})), 0);
  EXPECT_EQ(arrival_count(stage(10_s, ConstantRate{0.3})), 3);
  EXPECT_EQ(arrival_count(stage(10_s, ConstantRate{0.7})), 7);
  EXPECT_EQ(arrival_count(stage(60_s, ConstantRate{200'000})), 12'000'000);
  EXPECT_EQ(arrival_count(stage(1500_ms, ConstantRate{3})), 4);
}

TEST(ConstantRate, DueTimesAreExactHoweverLongTheRun) {
  const auto thirds = stage(3600_s, ConstantRate{3});
  EXPECT_EQ(arrival_due(thirds, 0), 0);
  EXPECT_EQ(arrival_due(thirds, 1), 333'333'333);
  EXPECT_EQ(arrival_due(thirds, 2), 666'666'667);
  EXPECT_EQ(arrival_due(thirds, 3), 1_s);
  EXPECT_EQ(arrival_due(thirds, 10'799), 3599'666'666'667);
  const auto fast = stage(604'800_s, ConstantRate{200'000});
  EXPECT_EQ(arrival_due(fast, 120'959'999'999), 604'800_s - 5'000);
}

TEST(ConstantRate, FractionalRateOverEightThreads) {
  const std::vector stages{stage(20_s, ConstantRate{0.5})};
  EXPECT_THAT(dues(stages, 8), ElementsAre(0_s, 2_s, 4_s, 6_s, 8_s, 10_s, 12_s, 14_s, 16_s, 18_s));
  EXPECT_EQ(walk(stages, 0, 8).size(), 2U);
  EXPECT_EQ(walk(stages, 7, 8).size(), 1U);
  EXPECT_EQ(walk(stages, 7, 8).front().due, 14_s);
}

TEST(RateRamp, UpFromZero) {
  // N(t) = t^2: request k at sqrt(k) seconds.
  const auto ramp = stage(4_s, RateRamp{0, 8});
  EXPECT_EQ(arrival_count(ramp), 16);
  EXPECT_EQ(arrival_due(ramp, 0), 0);
  EXPECT_EQ(arrival_due(ramp, 1), 1_s);
  EXPECT_EQ(arrival_due(ramp, 2), 1'414'213'562);
  EXPECT_EQ(arrival_due(ramp, 4), 2_s);
  EXPECT_EQ(arrival_due(ramp, 9), 3_s);
}

TEST(RateRamp, DownToZeroMirrorsIt) {
  // N(t) = 8 t - t^2.
  const auto ramp = stage(4_s, RateRamp{8, 0});
  EXPECT_EQ(arrival_count(ramp), 16);
  EXPECT_EQ(arrival_due(ramp, 7), 1_s);
  EXPECT_EQ(arrival_due(ramp, 12), 2_s);
  EXPECT_EQ(arrival_due(ramp, 15), 3_s);
}

TEST(RateRamp, LevelIsAConstantRate) {
  const auto level = stage(10_s, RateRamp{7, 7});
  const auto constant = stage(10_s, ConstantRate{7});
  ASSERT_EQ(arrival_count(level), arrival_count(constant));
  for (std::int64_t k = 0; k < arrival_count(level); ++k)
    EXPECT_EQ(arrival_due(level, k), arrival_due(constant, k));
}

class AnyThreads : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(AnyThreads, TheWholePlanIsTheSame) {
  const std::vector stages{stage(1_s, ConstantRate{97.5}), stage(2_s, RateRamp{10, 200}),
                           stage(1_s, Poisson{300}), stage(500_ms, ConstantRate{0.5}),
                           stage(1_s, RateRamp{200, 0})};
  EXPECT_EQ(dues(stages, GetParam(), 42), dues(stages, 1, 42));
}

TEST_P(AnyThreads, EachTakesEveryNthRequest) {
  const std::vector stages{stage(1_s, ConstantRate{1000})};
  const auto threads = GetParam();
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    std::uint64_t expected = thread;
    for (const auto& arrival : walk(stages, thread, threads)) {
      EXPECT_EQ(arrival.index, expected);
      EXPECT_EQ(arrival.due, static_cast<Nanos>(expected) * kMillisecond);
      expected += threads;
    }
    EXPECT_GE(expected, 1000U);
  }
}

INSTANTIATE_TEST_SUITE_P(OneToEight, AnyThreads, ::testing::Range(1U, 9U));

// How many requests fall due in each slot.
std::vector<int> histogram_of(const std::vector<Nanos>& due, Nanos slot) {
  std::vector<int> slots;
  for (const auto at : due) {
    slots.resize(std::max(slots.size(), static_cast<std::size_t>(at / slot) + 1), 0);
    ++slots[static_cast<std::size_t>(at / slot)];
  }
  return slots;
}

// The load of 10,000 connections at two requests a second each. The plan knows no connections: whichever is
// free takes the next request, so there are no phases of connections or threads that could add up.
TEST_P(AnyThreads, NoSlotOfAMillisecondHoldsMoreThanItsShare) {
  const std::vector stages{stage(2_s, ConstantRate{20'000})};
  const auto slots = histogram_of(dues(stages, GetParam()), kMillisecond);
  EXPECT_EQ(slots.size(), 2'000U);
  EXPECT_THAT(slots, ::testing::Each(20));
}

TEST_P(AnyThreads, EveryGapIsTheSame) {
  const std::vector stages{stage(1_s, ConstantRate{20'000})};
  const auto times = dues(stages, GetParam());
  for (std::size_t i = 1; i < times.size(); ++i) ASSERT_EQ(times[i] - times[i - 1], 50'000) << i;
}

// Ten connections at one request a second in all: nothing is due together, from the first request on.
TEST_P(AnyThreads, TheStartIsNoBurst) {
  const std::vector stages{stage(60_s, ConstantRate{1})};
  EXPECT_THAT(histogram_of(dues(stages, GetParam()), kSecond), ::testing::Each(1));
}

TEST_P(AnyThreads, SharesDifferByOneRequestAtMost) {
  const std::vector stages{stage(1_s, ConstantRate{1003})};
  for (std::uint32_t thread = 0; thread < GetParam(); ++thread) {
    const auto share = walk(stages, thread, GetParam()).size();
    EXPECT_GE(share, 1003 / GetParam());
    EXPECT_LE(share, 1003 / GetParam() + 1);
  }
}

TEST(ConstantRate, CountIsExactForBillions) {
  EXPECT_EQ(arrival_count(stage(10'000_s, ConstantRate{100'000})), 1'000'000'000);
  EXPECT_EQ(arrival_count(stage(604'800_s, ConstantRate{200'000})), 120'960'000'000);
  const auto most = stage(604'800_s, ConstantRate{kMaxRate});
  EXPECT_EQ(arrival_count(most), 6'048'000'000'000);
  EXPECT_EQ(arrival_due(most, 6'047'999'999'999), 604'800_s - 100);
  EXPECT_EQ(arrival_count(stage(604'800_s, RateRamp{0, kMaxRate})), 3'024'000'000'000);
}

TEST(ConstantRate, CountAndGapsDoNotDependOnTheDuration) {
  for (const Nanos duration : {1_s, 7_s, 60_s, 3600_s}) {
    const auto one = stage(duration, ConstantRate{333});
    EXPECT_EQ(arrival_count(one), 333 * (duration / kSecond));
    EXPECT_EQ(arrival_due(one, 332), 996'996'997);
  }
}

TEST(Stages, FollowEachOtherWithoutGapOrOverlap) {
  const std::vector stages{stage(1_s, ConstantRate{2}), stage(1_s, ConstantRate{1}),
                           stage(2_s, ConstantRate{2})};
  EXPECT_THAT(dues(stages), ElementsAre(0_s, 500_ms, 1_s, 2_s, 2500_ms, 3_s, 3500_ms));
  const auto arrivals = walk(stages);
  EXPECT_EQ(arrivals[2].stage, 1U);
  EXPECT_EQ(arrivals[3].stage, 2U);
  EXPECT_EQ(arrivals[3].index, 0U);
}

TEST(PoissonArrivals, AreReproducibleAndHaveExponentialGaps) {
  const std::vector stages{stage(100_s, Poisson{1000})};
  const auto times = dues(stages, 1, 7);
  EXPECT_EQ(times, dues(stages, 1, 7));
  EXPECT_NE(times, dues(stages, 1, 8));
  // 100,000 expected, standard deviation 316; gaps: mean 1 ms, as large a standard deviation.
  ASSERT_NEAR(static_cast<double>(times.size()), 100'000, 5 * 316);
  std::vector<double> gaps;
  for (std::size_t i = 1; i < times.size(); ++i)
    gaps.push_back(static_cast<double>(times[i] - times[i - 1]) / 1e6);
  const double mean = std::accumulate(gaps.begin(), gaps.end(), 0.0) / static_cast<double>(gaps.size());
  double variance = 0;
  for (const double gap : gaps) variance += (gap - mean) * (gap - mean) / static_cast<double>(gaps.size());
  EXPECT_NEAR(std::sqrt(variance) / mean, 1.0, 0.02);
  EXPECT_LT(times.back(), 100_s);
}

TEST(UserChanges, RampUpStartsUserUAtItsShare) {
  const std::vector stages{stage(8_s, UsersRamp{0, 4})};
  std::vector<Nanos> starts;
  for (const auto& change : user_changes(stages, 0, 0, 1)) {
    EXPECT_TRUE(change.start);
    EXPECT_FALSE(change.at_once);
    EXPECT_EQ(change.user, static_cast<std::int64_t>(starts.size()));
    starts.push_back(change.at);
  }
  EXPECT_THAT(starts, ElementsAre(0_s, 2_s, 4_s, 6_s));
}

TEST(UserChanges, RampDownRetiresTheHighestFirst) {
  const std::vector stages{stage(4_s, UsersRamp{4, 0})};
  std::vector<std::int64_t> users;
  std::vector<Nanos> times;
  for (const auto& change : user_changes(stages, 4, 0, 1)) {
    EXPECT_FALSE(change.start);
    users.push_back(change.user);
    times.push_back(change.at);
  }
  EXPECT_THAT(users, ElementsAre(3, 2, 1, 0));
  EXPECT_THAT(times, ElementsAre(1_s, 2_s, 3_s, 4_s));
}

TEST(UserChanges, JumpBetweenStagesHappensAtOnce) {
  const std::vector stages{stage(1_s, Users{3}), stage(1_s, Users{1})};
  const auto changes = user_changes(stages, 0, 0, 1);
  ASSERT_EQ(changes.size(), 5U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(changes[i].start && changes[i].at_once);
    EXPECT_EQ(changes[i].at, 0);
  }
  EXPECT_EQ(changes[3].user, 2);
  EXPECT_EQ(changes[4].user, 1);
  EXPECT_EQ(changes[4].at, 1_s);
  EXPECT_FALSE(changes[4].start);
}

TEST_P(AnyThreads, EveryUserStartsOnceOnItsOwnThread) {
  const std::vector stages{stage(10_s, UsersRamp{0, 1003})};
  std::vector<int> started(1003, 0);
  for (std::uint32_t thread = 0; thread < GetParam(); ++thread) {
    for (const auto& change : user_changes(stages, 0, thread, GetParam())) {
      EXPECT_EQ(change.user % GetParam(), thread);
      ++started[static_cast<std::size_t>(change.user)];
    }
  }
  EXPECT_THAT(started, ::testing::Each(1));
}

TEST(StageAt, FindsTheStageOfATime) {
  const std::vector stages{stage(1_s, Users{1}), stage(2_s, Users{1}), stage(1_s, Users{1})};
  EXPECT_EQ(stage_at(stages, 0), 0U);
  EXPECT_EQ(stage_at(stages, 1_s - 1), 0U);
  EXPECT_EQ(stage_at(stages, 1_s), 1U);
  EXPECT_EQ(stage_at(stages, 3_s), 2U);
  EXPECT_EQ(stage_at(stages, 99_s), 2U);
  EXPECT_EQ(total_duration(stages), 4_s);
}

}  // namespace
}  // namespace heddle::plan
