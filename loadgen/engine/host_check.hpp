// What a plan asks of this host, tried before anything runs.
#pragma once

#include "loadgen/engine/setup.hpp"
#include "loadgen/plan/plan.hpp"

namespace heddle::engine {

// Every CPU of the plan is one that this process may run on. Throws std::invalid_argument that names the
// key, the CPU and those available.
void check_cpus(const plan::Plan& plan);

// The kernel takes the plan's congestion control and lets sockets be bound to each source address, of the
// same family as the targets. Throws std::invalid_argument that names the key and the kernel's answer. Opens
// sockets, connects none.
void check_sockets(const Setup& setup);

}  // namespace heddle::engine
