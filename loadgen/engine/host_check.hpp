// What a plan asks of this host, tried before anything runs.
#pragma once

#include "loadgen/engine/setup.hpp"
#include "loadgen/plan/plan.hpp"

#include <string>
#include <vector>

namespace heddle::engine {

// Every CPU of the plan is one that this process may run on. Throws std::invalid_argument that names the
// key, the CPU and those available.
void check_cpus(const plan::Plan& plan);

// The kernel takes the plan's congestion control and lets sockets be bound to each source address. Throws
// std::invalid_argument that names the key and the kernel's answer. Opens sockets, connects none.
void check_sockets(const Setup& setup);

// make_setup() with everything above tried, and with descriptors and ports found to be enough: what a run on
// this host begins with. Its warnings are for people. Throws what those functions throw, NotMeasurable
// included. Blocks as make_setup() does; call it before threads start.
[[nodiscard]] Setup checked_setup(const plan::Plan& plan, const std::vector<std::string>& bodies);

}  // namespace heddle::engine
