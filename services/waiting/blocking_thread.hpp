// Threads that may block, and how they wait.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

namespace heddle::waiting {

// Enough for JSON, an exception and getaddrinfo together (measured 5.5 + 5.4 + 9.9 KiB) with a wide margin.
inline constexpr std::size_t kBlockingStackBytes = 256 * 1024;

// Starts a detached thread with all signals blocked. False when the host allows no more threads.
[[nodiscard]] bool start_blocking_thread(std::size_t stack_bytes, std::function<void()> body);

// Blocks the calling thread (clock_nanosleep to an absolute deadline, so an interruption adds nothing).
void block_for(std::chrono::nanoseconds duration);

}  // namespace heddle::waiting
