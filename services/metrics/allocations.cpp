#include "services/metrics/allocations.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <malloc.h>
#include <new>

namespace heddle::metrics {
namespace {

std::atomic<std::uint64_t> total_count{0};
std::atomic<std::int64_t> total_bytes{0};

struct Batch {
  std::uint64_t calls = 0;
  std::uint64_t allocated = 0;
  std::int64_t bytes = 0;
};
// No destructor, so that the first use of a thread allocates nothing.
thread_local Batch batch;

void count(std::uint64_t allocated, std::int64_t bytes) {
  Batch& mine = batch;
  mine.allocated += allocated;
  mine.bytes += bytes;
  if (++mine.calls < kBatchCalls && mine.bytes < kBatchBytes && mine.bytes > -kBatchBytes) return;
  total_count.fetch_add(mine.allocated, std::memory_order_relaxed);
  total_bytes.fetch_add(mine.bytes, std::memory_order_relaxed);
  mine = Batch{};
}

std::int64_t size_of(void* memory) {
  return static_cast<std::int64_t>(malloc_usable_size(memory));
}

// What the standard demands of operator new: ask the new-handler until there is memory or no handler.
template <typename Allocate>
void* allocate_or_throw(Allocate allocate) {
  while (true) {
    if (void* memory = allocate()) {
      count(1, size_of(memory));
      return memory;
    }
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  count(0, -size_of(memory));
  std::free(memory);
}

}  // namespace

Allocations allocations() {
  // A block may be counted as deleted by one thread before another one has added it.
  const std::int64_t bytes = std::max<std::int64_t>(0, total_bytes.load(std::memory_order_relaxed));
  return {.count = total_count.load(std::memory_order_relaxed),
          .bytes_in_use = static_cast<std::uint64_t>(bytes)};
}

}  // namespace heddle::metrics

// The forms of the standard library for arrays and for std::nothrow call these.
void* operator new(std::size_t bytes) {
  return heddle::metrics::allocate_or_throw([bytes] { return std::malloc(bytes == 0 ? 1 : bytes); });
}

void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto boundary = static_cast<std::size_t>(alignment);
  const std::size_t rounded = (bytes + boundary - 1) & ~(boundary - 1);  // aligned_alloc wants a multiple
  return heddle::metrics::allocate_or_throw(
      [=] { return std::aligned_alloc(boundary, rounded == 0 ? boundary : rounded); });
}

void operator delete(void* memory) noexcept {
  heddle::metrics::release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  heddle::metrics::release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  heddle::metrics::release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  heddle::metrics::release(memory);
}
