// Counts what operator new hands out in this process. Linking this in replaces the global operator new and
// delete; they still allocate with malloc.
#pragma once

#include <cstdint>

namespace heddle::metrics {

struct Allocations {
  std::uint64_t count = 0;         // calls of operator new since the process started
  std::uint64_t bytes_in_use = 0;  // handed out and not deleted yet, at malloc's sizes
};

// Threads add their figures in batches: missing of each thread are up to kBatchCalls calls and kBatchBytes
// bytes. Not mallinfo2, which walks the free list of each arena under its lock: 32 ms with 100,000 free
// blocks, in which no I/O thread allocates. Does not block.
inline constexpr std::uint64_t kBatchCalls = 64;
inline constexpr std::int64_t kBatchBytes = 64 * 1024;
[[nodiscard]] Allocations allocations();

}  // namespace heddle::metrics
