#include "loadgen/engine/pacer.hpp"

#include "loadgen/engine/occupancy.hpp"

#include <gtest/gtest.h>

namespace heddle::engine {
namespace {

constexpr Nanos kMicro = plan::kMicrosecond;

TEST(Pacer, WakesUpAsEarlyAsSleepsHaveBeenLate) {
  Pacer pacer{std::nullopt};
  EXPECT_EQ(pacer.window(), Pacer::kFirstWindow);
  pacer.overslept(700 * kMicro);
  EXPECT_EQ(pacer.window(), 700 * kMicro + Pacer::kMargin);
}

TEST(Pacer, ForgetsOneLateSleepSlowly) {
  Pacer pacer{std::nullopt};
  pacer.overslept(700 * kMicro);
  for (int i = 0; i < 50; ++i) pacer.overslept(60 * kMicro);
  EXPECT_GT(pacer.window(), 600 * kMicro) << "one sleep in fifty is that late";
  for (int i = 0; i < 10'000; ++i) pacer.overslept(60 * kMicro);
  EXPECT_LT(pacer.window(), 100 * kMicro);
  EXPECT_GE(pacer.window(), 60 * kMicro);
}

TEST(Pacer, DoesNotSpinAwayAHostThatSleepsForMilliseconds) {
  Pacer pacer{std::nullopt};
  pacer.overslept(50 * plan::kMillisecond);
  EXPECT_EQ(pacer.window(), Pacer::kLongestWindow);
}

TEST(Pacer, AFixedWindowStays) {
  Pacer never{0};
  never.overslept(700 * kMicro);
  EXPECT_EQ(never.window(), 0);
  Pacer fixed{300 * kMicro};
  fixed.overslept(700 * kMicro);
  EXPECT_EQ(fixed.window(), 300 * kMicro);
}

TEST(Occupancy, IntegratesTheLevelOverTime) {
  Occupancy occupancy;
  const Nanos second = plan::kSecond;
  occupancy.enter(10 * second);
  occupancy.enter(11 * second);
  EXPECT_DOUBLE_EQ(occupancy.request_seconds(13 * second), 5.0);
  occupancy.leave(13 * second);
  occupancy.leave(14 * second);
  EXPECT_EQ(occupancy.level(), 0);
  EXPECT_DOUBLE_EQ(occupancy.request_seconds(99 * second), 6.0);
}

TEST(Occupancy, SixtyThousandRequestsForAWeekDoNotOverflow) {
  Occupancy occupancy;
  for (int i = 0; i < 60'000; ++i) occupancy.enter(0);
  const Nanos week = 7 * 24 * 3600 * plan::kSecond;
  EXPECT_DOUBLE_EQ(occupancy.request_seconds(week), 60'000.0 * 7 * 24 * 3600);
}

}  // namespace
}  // namespace heddle::engine
