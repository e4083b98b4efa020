#include "services/metrics/schedule.hpp"

#include <gtest/gtest.h>

namespace heddle::metrics {
namespace {

using namespace std::chrono_literals;

constexpr SteadyTime kStart{};

TEST(Schedule, KeepsADeadlineThatIsStillAhead) {
  EXPECT_EQ(next_after(kStart + 1s, kStart + 999ms, 1s), kStart + 1s);
}

TEST(Schedule, GoesOnFromTheDeadlineNotFromNow) {
  EXPECT_EQ(next_after(kStart, kStart, 1s), kStart + 1s);
  EXPECT_EQ(next_after(kStart, kStart + 30ms, 1s), kStart + 1s);
}

TEST(Schedule, SkipsWhatWasSleptThroughAndStaysOnTheGrid) {
  EXPECT_EQ(next_after(kStart, kStart + 2500ms, 1s), kStart + 3s);
  EXPECT_EQ(next_after(kStart, kStart + 3s, 1s), kStart + 4s);
}

TEST(Schedule, LatenessDoesNotAddUp) {
  SteadyTime due = kStart;
  for (int i = 0; i < 3600; ++i) due = next_after(due, due + 900us, 1s);
  EXPECT_EQ(due, kStart + 3600s);
}

}  // namespace
}  // namespace heddle::metrics
