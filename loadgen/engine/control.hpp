// The few words through which the main thread and the engine threads talk. All times are CLOCK_MONOTONIC ns;
// 0 = not yet.
#pragma once

#include "loadgen/engine/clock.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

namespace heddle::engine {

inline constexpr std::size_t kGroups = 2;

// How many are open now, and the most at once. From any thread.
struct Gauge {
  std::atomic<std::int64_t> open{0};
  std::atomic<std::int64_t> peak{0};

  // Returns how many are open now.
  std::int64_t up() {
    const auto count = open.fetch_add(1, std::memory_order_relaxed) + 1;
    auto best = peak.load(std::memory_order_relaxed);
    while (count > best && !peak.compare_exchange_weak(best, count, std::memory_order_relaxed)) {
    }
    return count;
  }
  void down() { open.fetch_sub(1, std::memory_order_relaxed); }
};

struct Control {
  explicit Control(std::size_t source_count) : sources(source_count) {}

  // Main thread -> engine threads.
  std::atomic<Nanos> connect_start{0};
  std::array<std::atomic<Nanos>, kGroups> group_start{};
  std::atomic<Nanos> stop_at{0};    // interrupted: everything ends here
  std::atomic<bool> finish{false};  // give up what is in flight, publish, return

  // All engine threads: open connections, the most at once, and when all asked for were open.
  Gauge connections;
  std::vector<Gauge> sources;  // by source address
  std::atomic<Nanos> all_open_at{0};
  std::atomic<std::int64_t> refused{0};
  std::int64_t asked = 0;

  // `source`: index into `sources`, or beyond them when the kernel chose the address.
  void connection_opened(std::size_t source, Nanos now) {
    if (source < sources.size()) sources[source].up();
    Nanos never = 0;
    if (connections.up() == asked) all_open_at.compare_exchange_strong(never, now);
  }
  void connection_closed(std::size_t source) {
    if (source < sources.size()) sources[source].down();
    connections.down();
  }
};

// One engine thread -> main thread.
struct Report {
  std::atomic<bool> ready{false};
  std::atomic<std::int64_t> resolved{0};   // connections of the connect phase whose first attempt has ended
  std::atomic<std::int64_t> in_flight{0};  // updated once per turn of the loop
  std::atomic<std::uint32_t> groups_ended{0};
  std::atomic<bool> failed{false};  // see Worker::failure()
};

}  // namespace heddle::engine
