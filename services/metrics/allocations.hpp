// Counts what operator new hands out in this process. Linking this in replaces the global operator new.
#pragma once

#include <cstdint>

namespace heddle::metrics {

// Allocations made through operator new since the process started. Threads add theirs in batches of
// kAllocationBatch: up to kAllocationBatch - 1 of each living thread are not in the figure yet. Does not
// block.
inline constexpr std::uint64_t kAllocationBatch = 64;
[[nodiscard]] std::uint64_t allocations();

}  // namespace heddle::metrics
