// One row per request, handed from the engine threads to a writer without a lock and without waiting: a full
// ring drops the row and counts it.
#pragma once

#include "loadgen/record/counts.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace heddle::record {

enum class Outcome : std::uint8_t { ok, http_error, transport_error, timeout, in_flight, shed, unsent };

struct RequestRecord {
  std::int64_t end_nanos = 0;       // CLOCK_MONOTONIC
  std::int64_t latency_nanos = 0;   // from due
  std::int64_t service_nanos = -1;  // from sent; -1 = never sent
  std::uint32_t stage = 0;
  std::uint16_t request_class = 0;
  std::uint16_t status = 0;  // 0 = no answer
  Outcome outcome = Outcome::ok;
  Failure failure;  // of a transport_error
};

// What became of the rows of a run: together one for each planned request.
struct RequestRows {
  std::string file;
  std::int64_t written = 0;
  // No room in the ring, or in a block of rows that the file did not take whole.
  std::int64_t dropped = 0;
};

class RequestLog {
 public:
  // One ring of `capacity` rows (a power of two) per engine thread.
  RequestLog(std::size_t threads, std::size_t capacity);

  // Engine thread `thread` only. Never blocks.
  void push(std::size_t thread, const RequestRecord& row) {
    auto& ring = *rings_[thread];
    const auto head = ring.head.load(std::memory_order_relaxed);
    if (head - ring.tail.load(std::memory_order_acquire) > mask_) {
      ring.dropped.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    ring.rows[head & mask_] = row;
    ring.head.store(head + 1, std::memory_order_release);
  }

  // One reader thread: the rows of all rings that are there, appended to `out`; how many.
  std::size_t take(std::vector<RequestRecord>& out);
  // Rows that found no room so far.
  [[nodiscard]] std::int64_t dropped() const;

 private:
  struct alignas(64) Ring {
    explicit Ring(std::size_t capacity) : rows(capacity) {}
    std::vector<RequestRecord> rows;
    alignas(64) std::atomic<std::uint64_t> head{0};
    alignas(64) std::atomic<std::uint64_t> tail{0};
    std::atomic<std::int64_t> dropped{0};
  };
  std::vector<std::unique_ptr<Ring>> rings_;
  std::uint64_t mask_;
};

}  // namespace heddle::record
