// CPU lists and pinning. A CPU is its number in the kernel, as in /proc/cpuinfo and taskset.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::host {

// "0-3,5" -> {0,1,2,3,5}: ascending, without repeats. Throws std::invalid_argument that names the bad token.
[[nodiscard]] std::vector<int> parse_cpu_list(std::string_view text);

// The shortest list that parse_cpu_list reads back: {0,1,2,3,5} -> "0-3,5".
[[nodiscard]] std::string format_cpu_list(std::span<const int> cpus);

// The CPUs that the calling thread may run on, ascending (sched_getaffinity: cpusets and taskset included).
// Throws std::system_error.
[[nodiscard]] std::vector<int> available_cpus();

// Restricts the calling thread, and the threads it starts from now on, to `cpus`. Throws
// std::invalid_argument for an empty list or a CPU out of range, std::system_error when the kernel refuses;
// the message names the CPUs asked for and those available.
void pin_thread(std::span<const int> cpus);

// As pin_thread, for every thread that the process has now. Walks /proc/self/task: for start-up only.
void pin_process(std::span<const int> cpus);

}  // namespace heddle::host
