#include "services/metrics/csv_sampler.hpp"

#include "services/metrics/schedule.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <exception>
#include <iterator>
#include <pthread.h>
#include <signal.h>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

namespace heddle::metrics {
namespace {

constexpr std::string_view kHeader =
    "epoch_millis,monotonic_nanos,cpu_user_micros,cpu_system_micros,rss_bytes,heap_allocated_bytes,"
    "allocations,threads,tasks_in_flight,connections_open,connections_accepted,connections_per_io_thread,"
    "requests,responses_4xx,responses_5xx,cache_hits,cache_misses,pool_in_use,pool_waiting,"
    "voluntary_switches,involuntary_switches,minor_faults,major_faults\n";

constexpr auto kRowInterval = std::chrono::seconds{1};
constexpr auto kPeakInterval = std::chrono::milliseconds{100};  // an idle service wakes no more often

// Empty when nobody measures it.
std::string text_of(const Gauges::Read& read) {
  return read ? fmt::to_string(read()) : std::string();
}

std::string row_of(const ProcessSample& process, const Registry& registry) {
  std::uint64_t open = 0;
  std::string open_by_thread;
  for (std::size_t i = 0; i < registry.io_threads(); ++i) {
    const std::uint64_t here = registry.connections_open(i);
    open += here;
    fmt::format_to(std::back_inserter(open_by_thread), "{}{}", i == 0 ? "" : "|", here);
  }
  const Gauges& gauges = registry.gauges();
  return fmt::format(
      "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", process.epoch_millis,
      process.monotonic_nanos, process.cpu_user_micros, process.cpu_system_micros, process.rss_bytes,
      process.heap_allocated_bytes, process.allocations, process.threads, registry.tasks_in_flight(), open,
      registry.sum(&ShardCounters::connections_accepted), open_by_thread,
      registry.sum(&ShardCounters::requests), registry.sum(&ShardCounters::responses_4xx),
      registry.sum(&ShardCounters::responses_5xx), text_of(gauges.cache_hits), text_of(gauges.cache_misses),
      text_of(gauges.pool_in_use), text_of(gauges.pool_waiting), process.voluntary_switches,
      process.involuntary_switches, process.minor_faults, process.major_faults);
}

std::string reason_of(int error) {
  return std::generic_category().message(error);
}

// Blocks all signals in this thread while it lives: a thread that starts meanwhile inherits that.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

void CsvSampler::FileCloser::operator()(std::FILE* file) const {
  std::fclose(file);
}

CsvSampler::CsvSampler(const Registry& registry, const std::string& path)
    : registry_(registry), path_(path), file_(std::fopen(path.c_str(), "we")) {
  if (!file_ || !write(kHeader)) {
    throw std::runtime_error(
        fmt::format("cannot write the service metrics to {}: {}", path_, reason_of(errno)));
  }
}

CsvSampler::~CsvSampler() {
  stop();
}

void CsvSampler::start() {
  if (thread_.joinable()) return;
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { run(); });
}

void CsvSampler::stop() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void CsvSampler::run() {
  SteadyTime row_due = std::chrono::steady_clock::now();
  SteadyTime peak_due = row_due;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const SteadyTime now = std::chrono::steady_clock::now();
    registry_.observe_peak();
    if (now >= row_due) write_row();
    row_due = next_after(row_due, now, kRowInterval);
    peak_due = next_after(peak_due, now, kPeakInterval);
    wake_.wait_until(lock, std::min(row_due, peak_due), [this] { return stopping_; });
  }
  write_row();
}

void CsvSampler::write_row() {
  try {
    if (!write(row_of(process_.sample(), registry_))) report(reason_of(errno));
  } catch (const std::exception& error) {
    report(error.what());
  }
}

bool CsvSampler::write(std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size() &&
         std::fflush(file_.get()) == 0;
}

// The service goes on without its metrics: it says so once, and the rows that are missing say the rest.
void CsvSampler::report(std::string_view reason) {
  if (!write_failed_) fmt::print(stderr, "service metrics in {} are incomplete: {}\n", path_, reason);
  write_failed_ = true;
}

}  // namespace heddle::metrics
