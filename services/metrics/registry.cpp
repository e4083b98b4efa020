#include "services/metrics/registry.hpp"

#include <stdexcept>
#include <utility>

namespace heddle::metrics {
namespace {

using Field = std::atomic<std::uint64_t> ShardCounters::*;

// Callers read what was finished first: a task that starts in between makes the difference larger, and one
// that ends in between can not make it negative. Relaxed loads may still be seen in the other order.
std::uint64_t difference(std::uint64_t started, std::uint64_t finished) {
  return started > finished ? started - finished : 0;
}

}  // namespace

Registry::Registry(std::string approach, std::string version, TaskKind kind, std::size_t io_threads)
    : approach_(std::move(approach)),
      version_(std::move(version)),
      kind_(kind),
      io_threads_(io_threads),
      shards_(std::make_unique<ShardCounters[]>(io_threads)) {
  if (io_threads == 0) throw std::invalid_argument("a registry needs at least one I/O thread");
}

std::uint64_t Registry::sum(Field field) const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < io_threads_; ++i) sum += (shards_[i].*field).load(std::memory_order_relaxed);
  return sum;
}

std::uint64_t Registry::tasks_started(TaskKind kind) const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < io_threads_; ++i) {
    sum += shards_[i].tasks_started_by_kind[static_cast<std::size_t>(kind)].load(std::memory_order_relaxed);
  }
  return sum;
}

std::uint64_t Registry::tasks_in_flight() const {
  const std::uint64_t finished = sum(&ShardCounters::tasks_finished);
  return difference(sum(&ShardCounters::tasks_started), finished);
}

std::uint64_t Registry::connections_open(std::size_t shard) const {
  const ShardCounters& counters = shards_[shard];
  const std::uint64_t closed = counters.connections_closed.load(std::memory_order_relaxed);
  return difference(counters.connections_accepted.load(std::memory_order_relaxed), closed);
}

void Registry::observe_peak() const {
  const std::uint64_t now = tasks_in_flight();
  std::uint64_t peak = peak_.load(std::memory_order_relaxed);
  while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

}  // namespace heddle::metrics
