// A log-linear histogram in HdrHistogram's layout (Gil Tene, hdrhistogram.org): 2 significant digits, unit
// 1 us, up to 10 minutes. 256 sub-buckets, the upper half of which is used from the second bucket on, so a
// bucket is at most 1/128 of its value wide: under 0.8 % error.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace heddle::record {

class Histogram {
 public:
  static constexpr int kSignificantDigits = 2;
  static constexpr std::int64_t kLowestMicros = 1;
  static constexpr std::int64_t kHighestMicros = 600'000'000;
  static constexpr int kSubBuckets = 256;
  static constexpr int kHalf = kSubBuckets / 2;
  static constexpr int kHalfMagnitude = 7;
  // 256 << 22 is the first power of two above 600 s: 23 buckets.
  static constexpr int kBuckets = 23;
  static constexpr int kSize = (kBuckets + 1) * kHalf;

  // Negative values count as 0, values above the range as overflow. Constant time; allocates (24 KiB) at the
  // first value only.
  void record(std::int64_t micros) {
    if (micros < 0) micros = 0;
    if (micros > kHighestMicros) {
      ++overflow_;
      return;
    }
    if (counts_.empty()) counts_.resize(kSize, 0);
    ++counts_[static_cast<std::size_t>(index_of(micros))];
    ++count_;
    sum_ += micros;
    if (micros < min_) min_ = micros;
    if (micros > max_) max_ = micros;
  }
  void record_nanos(std::int64_t nanos) { record(micros_of(nanos)); }
  // To the nearest.
  [[nodiscard]] static constexpr std::int64_t micros_of(std::int64_t nanos) { return (nanos + 500) / 1000; }

  void merge(const Histogram& other);
  void clear();

  // Recorded values, without those above the range.
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::int64_t overflow() const { return overflow_; }
  [[nodiscard]] bool empty() const { return count_ == 0 && overflow_ == 0; }
  // Exact, in us; 0 when nothing was recorded.
  [[nodiscard]] std::int64_t min() const { return count_ == 0 ? 0 : min_; }
  [[nodiscard]] std::int64_t max() const { return count_ == 0 ? 0 : max_; }
  [[nodiscard]] std::int64_t sum() const { return sum_; }

  // The highest value of the bucket that holds the sample of rank `rank` (1 = smallest), never above max().
  // 1 <= rank <= count().
  [[nodiscard]] std::int64_t value_at_rank(std::int64_t rank) const;

  // Samples that are surely at or below `micros`' bucket.
  [[nodiscard]] std::int64_t count_up_to(std::int64_t micros) const;

  // kSize counts, or none when nothing was recorded yet.
  [[nodiscard]] const std::vector<std::int64_t>& counts() const { return counts_; }

  [[nodiscard]] static constexpr int index_of(std::int64_t micros) {
    const auto bits = static_cast<std::uint64_t>(micros) | (kSubBuckets - 1);
    const int bucket = std::bit_width(bits) - (kHalfMagnitude + 1);
    const int sub = static_cast<int>(micros >> bucket);
    return ((bucket + 1) << kHalfMagnitude) + (sub - kHalf);
  }
  [[nodiscard]] static constexpr std::int64_t lower_bound(int index) {
    const int bucket = index < kSubBuckets ? 0 : (index >> kHalfMagnitude) - 1;
    const int sub = index < kSubBuckets ? index : (index & (kHalf - 1)) + kHalf;
    return static_cast<std::int64_t>(sub) << bucket;
  }
  // The highest value that lands in the same bucket.
  [[nodiscard]] static constexpr std::int64_t upper_bound(int index) { return lower_bound(index + 1) - 1; }

 private:
  std::vector<std::int64_t> counts_;
  std::int64_t count_ = 0;
  std::int64_t overflow_ = 0;
  std::int64_t sum_ = 0;
  std::int64_t min_ = INT64_MAX;
  std::int64_t max_ = 0;
};

}  // namespace heddle::record
