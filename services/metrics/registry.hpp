// Counters of the running service. Writers are wait-free (relaxed atomics, one cache line set per I/O
// thread); readers sum. A leaf: knows nothing of the other folders.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace heddle::metrics {

enum class TaskKind { thread, fiber, callback, coroutine };
inline constexpr std::array<std::string_view, 4> kTaskKindNames{"thread", "fiber", "callback", "coroutine"};

// One per I/O thread; also written by pool threads on behalf of the I/O thread a request came from.
struct alignas(64) ShardCounters {
  std::atomic<std::uint64_t> connections_accepted{0};
  std::atomic<std::uint64_t> connections_closed{0};
  std::atomic<std::uint64_t> requests{0};
  // From here on also written by pool threads: on a line of its own.
  alignas(64) std::atomic<std::uint64_t> responses_2xx{0};
  std::atomic<std::uint64_t> responses_4xx{0};
  std::atomic<std::uint64_t> responses_5xx{0};
  std::atomic<std::uint64_t> tasks_started{0};
  std::array<std::atomic<std::uint64_t>, kTaskKindNames.size()> tasks_started_by_kind{};
  std::atomic<std::uint64_t> tasks_finished{0};
  std::atomic<std::uint64_t> tasks_on_io_threads{0};
  std::atomic<std::uint64_t> tasks_on_pool_threads{0};
  std::atomic<std::uint64_t> tasks_in_fiber_context{0};
};

// Values that live elsewhere and are asked for when somebody reads; an empty function means "not measured".
struct Gauges {
  using Read = std::function<std::uint64_t()>;
  Read cache_hits, cache_misses;
  Read pool_threads, pool_in_use, pool_waiting;
  Read client_connections_open, client_connects, client_pool_waiting;
};

class Registry {
 public:
  Registry(std::string approach, std::string version, TaskKind kind, std::size_t io_threads);

  [[nodiscard]] ShardCounters& shard(std::size_t index) { return shards_[index]; }
  [[nodiscard]] std::size_t io_threads() const { return io_threads_; }
  [[nodiscard]] TaskKind kind() const { return kind_; }
  void set_gauges(Gauges gauges) { gauges_ = std::move(gauges); }  // before any reader starts
  [[nodiscard]] const Gauges& gauges() const { return gauges_; }

  [[nodiscard]] std::uint64_t sum(std::atomic<std::uint64_t> ShardCounters::*field) const;
  // Counted by the code of the model that ran them, not taken from kind().
  [[nodiscard]] std::uint64_t tasks_started(TaskKind kind) const;
  [[nodiscard]] std::uint64_t tasks_in_flight() const;
  [[nodiscard]] std::uint64_t connections_open(std::size_t shard) const;

  // Prometheus text exposition format; also updates tasks_in_flight_peak. Does not block.
  [[nodiscard]] std::string prometheus() const;

  // Called by the metrics thread (often enough to see bursts) and by prometheus().
  void observe_peak() const;
  [[nodiscard]] std::uint64_t tasks_in_flight_peak() const { return peak_.load(std::memory_order_relaxed); }

 private:
  std::string approach_;
  std::string version_;
  TaskKind kind_;
  std::size_t io_threads_;
  std::unique_ptr<ShardCounters[]> shards_;
  Gauges gauges_;
  mutable std::atomic<std::uint64_t> peak_{0};
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace heddle::metrics
