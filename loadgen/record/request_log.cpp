#include "loadgen/record/request_log.hpp"

#include <bit>

namespace heddle::record {

RequestLog::RequestLog(std::size_t threads, std::size_t capacity) : mask_{std::bit_ceil(capacity) - 1} {
  for (std::size_t i = 0; i < threads; ++i) rings_.push_back(std::make_unique<Ring>(mask_ + 1));
}

std::size_t RequestLog::take(std::vector<RequestRecord>& out) {
  const auto before = out.size();
  for (auto& ring : rings_) {
    const auto head = ring->head.load(std::memory_order_acquire);
    auto tail = ring->tail.load(std::memory_order_relaxed);
    for (; tail != head; ++tail) out.push_back(ring->rows[tail & mask_]);
    ring->tail.store(tail, std::memory_order_release);
  }
  return out.size() - before;
}

std::int64_t RequestLog::dropped() const {
  std::int64_t sum = 0;
  for (const auto& ring : rings_) sum += ring->dropped.load(std::memory_order_relaxed);
  return sum;
}

}  // namespace heddle::record
