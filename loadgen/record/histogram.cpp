#include "loadgen/record/histogram.hpp"

#include <algorithm>

namespace heddle::record {

void Histogram::merge(const Histogram& other) {
  if (other.empty()) return;
  overflow_ += other.overflow_;
  if (other.count_ == 0) return;
  if (counts_.empty()) counts_.resize(kSize, 0);
  const int first = index_of(other.min_);
  const int last = index_of(other.max_);
  for (int i = first; i <= last; ++i)
    counts_[static_cast<std::size_t>(i)] += other.counts_[static_cast<std::size_t>(i)];
  count_ += other.count_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

void Histogram::clear() {
  if (count_ > 0) {
    std::fill(counts_.begin() + index_of(min_), counts_.begin() + index_of(max_) + 1, 0);
  }
  count_ = overflow_ = sum_ = max_ = 0;
  min_ = INT64_MAX;
}

std::int64_t Histogram::value_at_rank(std::int64_t rank) const {
  std::int64_t seen = 0;
  for (int i = index_of(min()); i < kSize; ++i) {
    seen += counts_[static_cast<std::size_t>(i)];
    if (seen >= rank) return std::min(upper_bound(i), max_);
  }
  return max_;
}

std::int64_t Histogram::count_up_to(std::int64_t micros) const {
  if (count_ == 0 || micros < 0) return 0;
  const int last = index_of(std::min(micros, kHighestMicros));
  std::int64_t seen = 0;
  for (int i = 0; i <= last; ++i) seen += counts_[static_cast<std::size_t>(i)];
  return seen;
}

}  // namespace heddle::record
