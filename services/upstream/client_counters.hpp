// Counters of an upstream client, read by the metrics thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace heddle::upstream {

struct ClientCounters {
  std::atomic<std::uint64_t> connections_open{0};
  std::atomic<std::uint64_t> connects{0};
  std::atomic<std::uint64_t> waiting{0};  // for a connection of the pool
};

}  // namespace heddle::upstream
