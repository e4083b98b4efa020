// Counts every allocation of the program that this is linked into, zlib's too.
#pragma once

#include <cstdint>

namespace heddle::microbench {

// Calls of malloc, calloc, realloc and aligned_alloc (operator new calls them) since the start.
[[nodiscard]] std::int64_t allocations();

}  // namespace heddle::microbench
