#include "services/metrics/allocations.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace heddle::metrics {
namespace {

std::atomic<std::uint64_t> total{0};
// No destructor, so that the first use of a thread allocates nothing.
thread_local std::uint64_t batch = 0;

void count() {
  if (++batch < kAllocationBatch) return;
  total.fetch_add(batch, std::memory_order_relaxed);
  batch = 0;
}

// What the standard demands of operator new: ask the new-handler until there is memory or no handler.
template <typename Allocate>
void* allocate_or_throw(Allocate allocate) {
  count();
  while (true) {
    if (void* memory = allocate()) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

}  // namespace

std::uint64_t allocations() {
  return total.load(std::memory_order_relaxed);
}

}  // namespace heddle::metrics

// The forms of the standard library for arrays and for std::nothrow call these two; all its forms of delete
// call free, which these match.
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
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
