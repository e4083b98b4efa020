// Counts one request's task from start to end, and records where it really ran.
#pragma once

#include "services/metrics/registry.hpp"
#include "services/waiting/io_threads.hpp"

#include <utility>

namespace heddle::waiting {

// Asks Boost.Fiber whether the caller is a worker fiber. Set on threads that run a fiber scheduler only:
// asking on any other thread would create a scheduler there.
using InFiber = bool (*)();
inline thread_local InFiber in_fiber = nullptr;

class TaskScope {
 public:
  // `kind` is what the caller is: named in the model's own code, so that an approach wired to the wrong model
  // shows in the metrics.
  TaskScope(metrics::ShardCounters& counters, metrics::TaskKind kind) : counters_(&counters) {
    constexpr auto relaxed = std::memory_order_relaxed;
    counters.tasks_started.fetch_add(1, relaxed);
    counters.tasks_started_by_kind[static_cast<std::size_t>(kind)].fetch_add(1, relaxed);
    auto& where = on_io_thread() ? counters.tasks_on_io_threads : counters.tasks_on_pool_threads;
    where.fetch_add(1, relaxed);
    if (in_fiber != nullptr && in_fiber()) counters.tasks_in_fiber_context.fetch_add(1, relaxed);
  }
  ~TaskScope() {
    if (counters_ != nullptr) counters_->tasks_finished.fetch_add(1, std::memory_order_relaxed);
  }
  TaskScope(TaskScope&& other) noexcept : counters_(std::exchange(other.counters_, nullptr)) {}
  TaskScope& operator=(TaskScope&&) = delete;

 private:
  metrics::ShardCounters* counters_;
};

}  // namespace heddle::waiting
