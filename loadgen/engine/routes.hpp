// How the connections are spread over targets and sources.
#pragma once

#include "loadgen/engine/port_budget.hpp"
#include "loadgen/engine/setup.hpp"

#include <cstdint>
#include <vector>

namespace heddle::engine {

struct Place {
  std::uint16_t target = 0;  // in Setup::targets
  std::uint32_t source = 0;  // in Setup::sources; kNone = the kernel chooses
};

// Of connection `number`, counted over all threads: URLs take turns, then each URL's answers, then the
// sources of each answer's family. So every pair of answer and source gets its share, whatever their numbers
// are.
[[nodiscard]] Place place_of(const Setup& setup, std::size_t number);

// How many of the first `total` connections go to each target.
[[nodiscard]] std::vector<std::int64_t> spread(const Setup& setup, std::int64_t total);

// What each target with ports, or on this host, is asked for; the same address in several URLs counts as one.
[[nodiscard]] std::vector<TargetLoad> target_loads(const Setup& setup);

// Connections that each second of the plan replaces at most, when it has rates and connections of short life;
// 0 otherwise.
[[nodiscard]] double new_connections_per_second(const plan::Plan& plan);

}  // namespace heddle::engine
