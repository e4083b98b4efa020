#include "tests/microbench/counting_malloc.hpp"

#include <atomic>
#include <cstddef>

namespace {
std::atomic<std::int64_t> counted{0};
}

// The GNU C library lets a program replace these; its own remain under the names with __libc_. What they give
// is its own memory, so free() needs no replacement.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  ++counted;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++counted;
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  ++counted;
  return __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++counted;
  return __libc_memalign(alignment, size);
}
}

namespace heddle::microbench {

std::int64_t allocations() {
  return counted;
}

}  // namespace heddle::microbench
