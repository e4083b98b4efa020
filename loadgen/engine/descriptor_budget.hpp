// How many descriptors a run needs and whether the limit allows them. Pure, but for the one that counts.
#pragma once

#include "loadgen/engine/not_measurable.hpp"
#include "loadgen/plan/plan.hpp"

#include <cstdint>

namespace heddle::engine {

struct DescriptorNeed {
  std::int64_t connections = 0;  // of all threads
  std::int64_t threads = 1;
  std::int64_t others = 0;  // open before, and files of the run
  plan::DescriptorTables tables = plan::DescriptorTables::automatic;
};

struct DescriptorDecision {
  bool own_tables = false;     // each thread has a table of its own
  std::int64_t per_table = 0;  // descriptors that a table needs
};

// What a table needs that holds the connections of `threads_in_it` threads. Every table begins as a copy of
// the process's, which has the descriptors of all threads but their connections.
[[nodiscard]] std::int64_t table_need(const DescriptorNeed& need, std::int64_t threads_in_it);

// `limit` is the hard limit of one table. automatic takes tables per thread only when one table is too small.
// Throws NotMeasurable with the numbers and what helps.
[[nodiscard]] DescriptorDecision decide_descriptors(const DescriptorNeed& need, std::uint64_t limit);

// Descriptors that this process has open now, as /proc tells; 3 when it does not. Blocks for a moment.
[[nodiscard]] std::int64_t count_open_descriptors();

}  // namespace heddle::engine
