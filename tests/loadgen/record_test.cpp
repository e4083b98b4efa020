#include "loadgen/record/counts.hpp"
#include "loadgen/record/interval.hpp"
#include "loadgen/record/mailbox.hpp"
#include "loadgen/record/percentile.hpp"
#include "loadgen/record/verdict.hpp"

#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::record {
namespace {

using ::testing::HasSubstr;

TEST(Histogram, EveryBucketHoldsItsBoundsAndIsNarrow) {
  for (int i = 0; i < Histogram::kSize - 1; ++i) {
    const auto low = Histogram::lower_bound(i);
    const auto high = Histogram::upper_bound(i);
    ASSERT_EQ(Histogram::index_of(low), i);
    ASSERT_EQ(Histogram::index_of(high), i);
    ASSERT_LE(static_cast<double>(high - low), 0.01 * static_cast<double>(low) + 0.5);
  }
  EXPECT_LT(Histogram::index_of(Histogram::kHighestMicros), Histogram::kSize);
}

// Quantiles of samples whose exact values are known, to 1 %.
void expect_quantiles(const std::vector<std::int64_t>& sorted) {
  Histogram histogram;
  for (const auto value : sorted) histogram.record(value);
  for (const double q : {0.5, 0.9, 0.99, 0.999}) {
    const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size()) - 1e-6));
    const auto exact = static_cast<double>(sorted[rank - 1]);
    const auto found = quantile(histogram, q, 1);
    ASSERT_TRUE(found);
    EXPECT_NEAR(static_cast<double>(*found), exact, 0.01 * exact + 0.5) << "q = " << q;
    EXPECT_LE(*found, histogram.max());
  }
}

TEST(Histogram, QuantilesOfUniformValues) {
  std::vector<std::int64_t> values(100'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int64_t>(i + 1);
  expect_quantiles(values);
}

TEST(Histogram, QuantilesOfAnExponentialDistribution) {
  std::vector<std::int64_t> values;
  constexpr int count = 200'000;
  for (int i = 0; i < count; ++i) values.push_back(std::llround(-100'000 * std::log1p(-(i + 0.5) / count)));
  expect_quantiles(values);
}

TEST(Histogram, QuantilesOfALogNormalDistribution) {
  std::mt19937_64 random{5};
  std::lognormal_distribution<double> law{8, 1.5};
  std::vector<std::int64_t> values;
  for (int i = 0; i < 200'000; ++i)
    values.push_back(std::min<std::int64_t>(std::llround(law(random)), 600'000'000));
  std::sort(values.begin(), values.end());
  expect_quantiles(values);
}

TEST(Histogram, EmptyHasNoQuantileAndNoFantasyMinimum) {
  const Histogram empty;
  EXPECT_FALSE(quantile(empty, 0.5, 0));
  EXPECT_EQ(empty.min(), 0);
  EXPECT_EQ(empty.max(), 0);
}

TEST(Histogram, CountsWhatIsAboveItsRange) {
  Histogram histogram;
  histogram.record(Histogram::kHighestMicros);
  histogram.record(Histogram::kHighestMicros + 1);
  histogram.record(INT64_MAX);
  histogram.record(-5);
  EXPECT_EQ(histogram.count(), 2);
  EXPECT_EQ(histogram.overflow(), 2);
  EXPECT_EQ(histogram.min(), 0);
  EXPECT_EQ(histogram.max(), Histogram::kHighestMicros);
}

TEST(Histogram, MergeAndClear) {
  Histogram a;
  Histogram b;
  a.record(10);
  b.record(1'000'000);
  b.record(20);
  a.merge(b);
  EXPECT_EQ(a.count(), 3);
  EXPECT_EQ(a.min(), 10);
  EXPECT_EQ(a.max(), 1'000'000);
  EXPECT_EQ(a.sum(), 1'000'030);
  a.clear();
  EXPECT_TRUE(a.empty());
  EXPECT_EQ(a.value_at_rank(1), 0);
  a.record(7);
  EXPECT_EQ(a.value_at_rank(1), 7);
}

// `doublings` times as many of everything.
Histogram doubled(Histogram histogram, int doublings) {
  for (int i = 0; i < doublings; ++i) histogram.merge(Histogram{histogram});
  return histogram;
}

TEST(Histogram, CountsBeyond32BitsKeepTheirQuantiles) {
  Histogram low;
  low.record(100);
  Histogram high;
  high.record(1'000);
  auto many = doubled(low, 40);
  many.merge(doubled(high, 33));
  EXPECT_EQ(many.count(), (1LL << 40) + (1LL << 33));
  EXPECT_EQ(many.sum(), 100 * (1LL << 40) + 1'000 * (1LL << 33));
  EXPECT_EQ(quantile(many, 0.5), 100);
  EXPECT_EQ(quantile(many, 0.99), 100);
  EXPECT_NEAR(static_cast<double>(*quantile(many, 0.999)), 1'000, 8);
  EXPECT_EQ(many.max(), 1'000);
}

TEST(Histogram, ExtremesOf64BitsAreOverflowNotValues) {
  Histogram histogram;
  for (const auto value : {INT64_MAX, INT64_MAX - 1, INT64_MAX / 2, std::int64_t{1} << 62}) {
    histogram.record(value);
  }
  histogram.record_nanos(INT64_MAX - 500);
  histogram.record(INT64_MIN);
  EXPECT_EQ(histogram.overflow(), 5);
  EXPECT_EQ(histogram.count(), 1);
  EXPECT_EQ(histogram.sum(), 0);
  EXPECT_EQ(histogram.max(), 0);
}

// What a billion records hold is what the first of them made.
TEST(Histogram, ABillionRecordsNeedNoMoreMemory) {
  Histogram histogram;
  for (int i = 0; i < 1'000; ++i) histogram.record(i * 997);
  const auto* counts = histogram.counts().data();
  const auto size = histogram.counts().size();
  const auto capacity = histogram.counts().capacity();
  histogram = doubled(std::move(histogram), 20);
  EXPECT_GT(histogram.count(), 1'000'000'000);
  EXPECT_EQ(histogram.counts().data(), counts);
  EXPECT_EQ(histogram.counts().size(), size);
  EXPECT_EQ(histogram.counts().capacity(), capacity);
  EXPECT_LE(size * sizeof(std::int64_t), 25U * 1024);
}

TEST(Interval, ASecondWithManyRequestsNeedsNoMoreMemoryThanOneWithFew) {
  Interval interval{1, 1};
  interval.cell(0, 0).latency.answered.record(1);
  interval.clear();
  const auto* cell = &interval.cell(0, 0);
  for (int i = 0; i < 100'000; ++i) interval.cell(0, 0).latency.answered.record(i);
  EXPECT_EQ(&interval.cell(0, 0), cell);
  EXPECT_EQ(interval.cell(0, 0).latency.answered.counts().size(), static_cast<std::size_t>(Histogram::kSize));
}

// Every statistic reads the same buckets: none is above the maximum or below the minimum, and they rise.
TEST(Quantile, NoneIsAboveTheMaximumWhateverTheSamples) {
  std::mt19937_64 random{11};
  for (int round = 0; round < 300; ++round) {
    std::lognormal_distribution<double> law{static_cast<double>(round % 19), 0.1 + round % 7};
    Distribution d;
    const int samples = 1 + round % 1'000;
    for (int i = 0; i < samples; ++i) d.answered.record(std::llround(law(random)));
    if (round % 3 == 0) d.waiting.record(std::llround(law(random)));
    std::int64_t last = 0;
    for (const double q : {0.001, 0.5, 0.9, 0.99, 0.999, 0.9999}) {
      const auto value = quantile(d, q, 0);
      ASSERT_TRUE(value);
      EXPECT_LE(value->micros, largest(d)->micros) << "q = " << q << ", round " << round;
      EXPECT_GE(value->micros, last);
      last = value->micros;
    }
  }
}

TEST(Quantile, OneSampleIsEveryQuantile) {
  for (const std::int64_t value : {0LL, 1LL, 255LL, 256LL, 12'345LL, 599'999'999LL, 600'000'000LL}) {
    Distribution d;
    d.answered.record(value);
    for (const double q : {0.01, 0.5, 0.99, 0.9999}) EXPECT_EQ(quantile(d, q, 0)->micros, value);
    EXPECT_EQ(largest(d)->micros, value);
  }
}

TEST(Quantile, NeedsAHundredSamplesAbove) {
  Distribution d;
  for (int i = 0; i < 9'999; ++i) d.answered.record(i);
  EXPECT_TRUE(quantile(d, 0.5));
  EXPECT_FALSE(quantile(d, 0.99));
  d.answered.record(1);
  EXPECT_TRUE(quantile(d, 0.99));
  EXPECT_FALSE(quantile(d, 0.999));
}

TEST(Quantile, WithoutAnswerInTheTailIsAtLeast) {
  Distribution d;
  for (int i = 0; i < 9'800; ++i) d.answered.record(1'000);
  for (int i = 0; i < 200; ++i) d.waiting.record(60'000'000);
  const auto p50 = quantile(d, 0.5);
  const auto p99 = quantile(d, 0.99);
  ASSERT_TRUE(p50 && p99);
  EXPECT_FALSE(p50->at_least);
  EXPECT_EQ(p50->micros, 1'000);
  EXPECT_TRUE(p99->at_least);
  EXPECT_NEAR(static_cast<double>(p99->micros), 60e6, 0.6e6);
  EXPECT_TRUE(largest(d)->at_least);
}

TEST(Quantile, AFewShortWaitsDoNotTouchTheMedian) {
  Distribution d;
  for (int i = 1; i <= 100'000; ++i) d.answered.record(1'000);
  d.waiting.record(5);  // on the wire for 5 us when the run ended: it may take any time
  EXPECT_FALSE(quantile(d, 0.5)->at_least);
  EXPECT_FALSE(quantile(d, 0.99)->at_least);
}

TEST(Quantile, ManyShortWaitsDo) {
  Distribution d;
  for (int i = 1; i <= 10'000; ++i) d.answered.record(i);
  for (int i = 1; i <= 5'000; ++i) d.waiting.record(5);
  EXPECT_TRUE(quantile(d, 0.5)->at_least);
}

TEST(Quantile, OverflowIsAtLeastTheRange) {
  Distribution d;
  for (int i = 0; i < 1'000; ++i) d.answered.record(INT64_MAX);
  EXPECT_TRUE(quantile(d, 0.5)->at_least);
  EXPECT_EQ(quantile(d, 0.5)->micros, Histogram::kHighestMicros);
}

TEST(Counts, BalanceHoldsOrSaysWhere) {
  Counts counts;
  EXPECT_EQ(imbalance(counts), "");
  counts.planned = 10;
  counts.shed = 1;
  counts.unsent = 1;
  counts.sent = 8;
  counts.ok = 3;
  counts.http_errors[5] = 1;
  counts.add_failure({TransportError::reset, 0});
  counts.add_failure({TransportError::other, 113});
  counts.timeouts = 1;
  counts.in_flight = 1;
  EXPECT_EQ(imbalance(counts), "");
  EXPECT_EQ(counts.errors(), 4);
  ++counts.ok;
  EXPECT_THAT(imbalance(counts), HasSubstr("sent 8 = ok 4"));
  --counts.ok;
  ++counts.planned;
  EXPECT_THAT(imbalance(counts), HasSubstr("planned 11"));
}

TEST(Interval, KeepsCellsApartAndForgetsThem) {
  Interval interval{2, 2};
  interval.cell(0, 1).counts.ok = 3;
  interval.cell(1, 0).counts.ok = 4;
  EXPECT_EQ(interval.find(0, 0), nullptr);
  EXPECT_EQ(interval.find(0, 1)->counts.ok, 3);
  interval.clear();
  EXPECT_EQ(interval.find(0, 1), nullptr);
  EXPECT_EQ(interval.cell(0, 1).counts.ok, 0);
}

TEST(Mailbox, HandsOverOneAtATime) {
  Mailbox box{1, 1};
  auto* first = box.first();
  EXPECT_EQ(box.take(), nullptr);
  auto* second = box.exchange(first);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(box.exchange(second), nullptr);  // the other one is still out
  EXPECT_EQ(box.take(), first);
  EXPECT_EQ(box.exchange(second), nullptr);
  box.give_back(first);
  EXPECT_EQ(box.exchange(second), first);
  EXPECT_EQ(box.take(), second);
}

Generator generator_with(std::int64_t lag_micros, double busy) {
  Generator generator;
  for (int i = 0; i < 1'000; ++i) generator.lag.record(lag_micros);
  ThreadStats thread;
  thread.window_seconds = 10;
  thread.busy_seconds = busy * 10;
  generator.threads = {thread};
  return generator;
}

TEST(Verdict, OkLateOrSaturated) {
  Distribution fast;
  for (int i = 0; i < 100; ++i) fast.answered.record(500);
  auto good = generator_with(100, 0.5);
  judge(good, fast);
  EXPECT_EQ(good.verdict, Verdict::ok);
  auto late = generator_with(300, 0.5);
  judge(late, fast);
  EXPECT_EQ(late.verdict, Verdict::late);
  EXPECT_THAT(late.reason, HasSubstr("200 us"));
  auto full = generator_with(300, 0.85);
  judge(full, fast);
  EXPECT_EQ(full.verdict, Verdict::saturated);
}

TEST(Verdict, LatenessIsJudgedBesideWhatIsMeasured) {
  Distribution slow;
  for (int i = 0; i < 100; ++i) slow.answered.record(100'000);
  auto generator = generator_with(4'000, 0.1);
  judge(generator, slow);
  EXPECT_EQ(generator.verdict, Verdict::ok);
}

}  // namespace
}  // namespace heddle::record
