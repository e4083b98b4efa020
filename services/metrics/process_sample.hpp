// What the kernel and the allocator know about this process, at one moment.
#pragma once

#include <cstdint>

namespace heddle::metrics {

struct ProcessSample {
  std::int64_t epoch_millis = 0;
  std::int64_t monotonic_nanos = 0;
  std::uint64_t cpu_user_micros = 0;  // counters of all threads, ended ones included
  std::uint64_t cpu_system_micros = 0;
  std::uint64_t rss_bytes = 0;
  std::uint64_t heap_allocated_bytes = 0;  // in use through operator new: fiber stacks are not in it
  std::uint64_t allocations = 0;           // calls of operator new
  std::uint64_t threads = 0;
  std::uint64_t voluntary_switches = 0;
  std::uint64_t involuntary_switches = 0;
  std::uint64_t minor_faults = 0;
  std::uint64_t major_faults = 0;
};

// Keeps its two /proc files open, so that sampling needs no descriptor when there are none left.
class ProcessSampler {
 public:
  ProcessSampler();  // throws std::system_error
  ~ProcessSampler();
  ProcessSampler(const ProcessSampler&) = delete;
  ProcessSampler& operator=(const ProcessSampler&) = delete;

  // Never walks threads or tasks. Throws std::system_error or std::runtime_error when /proc cannot be read.
  [[nodiscard]] ProcessSample sample() const;

 private:
  int statm_ = -1;
  int status_ = -1;
};

}  // namespace heddle::metrics
