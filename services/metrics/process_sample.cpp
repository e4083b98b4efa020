#include "services/metrics/process_sample.hpp"

#include "services/metrics/allocations.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <fcntl.h>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>

namespace heddle::metrics {
namespace {

int open_proc(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) throw std::system_error(errno, std::generic_category(), std::string("cannot open ") + path);
  return file;
}

// A /proc file makes its text anew for every read at offset 0.
std::string_view read_proc(int file, std::span<char> buffer) {
  const ssize_t bytes = pread(file, buffer.data(), buffer.size(), 0);
  if (bytes < 0) throw std::system_error(errno, std::generic_category(), "cannot read /proc/self");
  return {buffer.data(), static_cast<std::size_t>(bytes)};
}

std::uint64_t leading_number(std::string_view text) {
  std::uint64_t value = 0;
  const std::size_t start = text.find_first_not_of(" \t");
  if (start == std::string_view::npos) throw std::runtime_error("found no number in /proc/self");
  const auto [stop, error] = std::from_chars(text.data() + start, text.data() + text.size(), value);
  if (error != std::errc{}) throw std::runtime_error("found no number in /proc/self");
  return value;
}

// statm: "size resident shared ...", in pages (proc(5)).
std::uint64_t resident_bytes(int statm) {
  std::array<char, 256> buffer;
  const std::string_view text = read_proc(statm, buffer);
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) throw std::runtime_error("found no second field in /proc/self/statm");
  return leading_number(text.substr(space)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// status, not stat: the kernel fills the latter by a walk over all threads, this line by one counter.
std::uint64_t thread_count(int status) {
  constexpr std::string_view kLabel = "\nThreads:";
  std::array<char, 4096> buffer;
  const std::string_view text = read_proc(status, buffer);
  const std::size_t label = text.find(kLabel);
  if (label == std::string_view::npos) throw std::runtime_error("found no Threads in /proc/self/status");
  return leading_number(text.substr(label + kLabel.size()));
}

std::uint64_t micros(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000U + static_cast<std::uint64_t>(time.tv_usec);
}

template <typename Clock, typename Unit>
std::int64_t now_in() {
  return std::chrono::duration_cast<Unit>(Clock::now().time_since_epoch()).count();
}

}  // namespace

ProcessSampler::ProcessSampler() : statm_(open_proc("/proc/self/statm")) {
  try {
    status_ = open_proc("/proc/self/status");
  } catch (...) {
    close(statm_);
    throw;
  }
}

ProcessSampler::~ProcessSampler() {
  close(statm_);
  close(status_);
}

ProcessSample ProcessSampler::sample() const {
  ProcessSample sample;
  sample.epoch_millis = now_in<std::chrono::system_clock, std::chrono::milliseconds>();
  sample.monotonic_nanos = now_in<std::chrono::steady_clock, std::chrono::nanoseconds>();
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot read the resource usage");
  }
  sample.cpu_user_micros = micros(usage.ru_utime);
  sample.cpu_system_micros = micros(usage.ru_stime);
  sample.voluntary_switches = static_cast<std::uint64_t>(usage.ru_nvcsw);
  sample.involuntary_switches = static_cast<std::uint64_t>(usage.ru_nivcsw);
  sample.minor_faults = static_cast<std::uint64_t>(usage.ru_minflt);
  sample.major_faults = static_cast<std::uint64_t>(usage.ru_majflt);
  sample.rss_bytes = resident_bytes(statm_);
  sample.threads = thread_count(status_);
  const Allocations heap = allocations();
  sample.allocations = heap.count;
  sample.heap_allocated_bytes = heap.bytes_in_use;
  return sample;
}

}  // namespace heddle::metrics
