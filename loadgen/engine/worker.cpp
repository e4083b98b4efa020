#include "loadgen/engine/worker.hpp"

#include "host-tuning/cpus.hpp"
#include "loadgen/plan/schedule.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <fstream>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <system_error>

namespace heddle::engine {
namespace {

// After so many attempts to connect in a row the answers that have come are looked at: an accept burst of
// thousands must not delay the connect times of its first ones.
constexpr std::uint32_t kOpenBatch = 32;

// Seconds that this thread was ready to run but did not: second field of schedstat (Documentation/scheduler/
// sched-stats.rst). Blocks for a few microseconds; 0 when the kernel does not tell.
double run_delay_seconds() {
  std::ifstream in{"/proc/thread-self/schedstat"};
  std::int64_t on_cpu = 0;
  std::int64_t waiting = 0;
  in >> on_cpu >> waiting;
  return static_cast<double>(waiting) * 1e-9;
}

// A thread that shares its CPU with others must not keep it from them: without a CPU of its own, and with
// fewer CPUs than threads and one to spare, it sleeps until the due time.
std::optional<Nanos> spin_window(const Setup& setup) {
  if (setup.plan.spin || !setup.plan.cpus.empty()) return setup.plan.spin;
  if (host::available_cpus().size() > setup.threads) return std::nullopt;
  return 0;
}

}  // namespace

Worker::Worker(const Setup& setup, Control& control, std::uint32_t thread)
    : setup_{setup},
      control_{control},
      thread_{thread},
      recorder_{setup.plan.stages.size(), setup.plan.requests.size()},
      connections_{setup, thread, poller_, recorder_, control, report_},
      driver_{plan::is_users(setup.plan) ? make_user_driver(setup, thread, connections_, recorder_)
                                         : make_rate_driver(setup, thread, connections_, recorder_)},
      pacer_{spin_window(setup)} {
  recorder_.keep_rows(setup.request_log, thread);
  connections_.observe(*driver_);
  stats_.connections = connections_.size();
}

void Worker::run() {
  try {
    prepare();
    loop();
  } catch (const std::exception& error) {
    failure_ = error.what();
    report_.failed.store(true);
  }
  connections_.close_all();
}

void Worker::prepare() {
  pthread_setname_np(pthread_self(), ("load-" + std::to_string(thread_)).c_str());
  if (setup_.own_descriptor_tables && unshare(CLONE_FILES) != 0) {
    throw std::system_error(errno, std::generic_category(), "unshare(CLONE_FILES)");
  }
  // The kernel may otherwise stretch every timer by 50 us to save energy (prctl(2), PR_SET_TIMERSLACK).
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  if (!setup_.plan.cpus.empty()) {
    stats_.cpu = setup_.plan.cpus[thread_ % setup_.plan.cpus.size()];
    host::pin_thread(std::array{stats_.cpu});
  }
  report_.ready.store(true);
  while (control_.connect_start.load() == 0 && !control_.finish.load()) (void)poller_.wait(kNever);
  const Nanos now = monotonic_now();
  recorder_.begin(now);
  next_second_ = now + plan::kSecond;
}

void Worker::loop() {
  while (!control_.finish.load(std::memory_order_acquire)) {
    const Nanos turn_start = monotonic_now();
    Nanos until = std::min(open_more(turn_start), connections_.tend(turn_start));
    change_phase(turn_start);
    keep_seconds(turn_start);
    Nanos due = kNever;
    if (phase_ == Phase::active) {
      driver_->run_due(std::min(turn_start, group_end()));
      due = driver_->next_due();
      until = std::min(until, group_end());
    } else {
      const auto next_group = phase_ == Phase::connecting ? 0 : group_ + 1;
      const Nanos start = next_group < kGroups ? control_.group_start[next_group].load() : 0;
      if (start != 0) due = start;
    }
    until = std::min(until, swap_pending_ ? turn_start + plan::kMillisecond : next_second_);
    report_.in_flight.store(connections_.in_flight(), std::memory_order_release);
    if (measuring_) busy_ += monotonic_now() - turn_start;
    handle(wait(due, until));
  }
  const Nanos now = monotonic_now();
  if (phase_ == Phase::active) end_group(std::min(now, group_end()));
  connections_.abandon(now);
  stats_.total_in_flight_seconds = connections_.measured_on_wire().request_seconds(now);
  recorder_.close(now);
}

// For events, or until there is something to do: at `until`, or at `due`, which is not to be missed.
std::span<const epoll_event> Worker::wait(Nanos due, Nanos until) {
  const Nanos now = monotonic_now();
  const Nanos asleep_until = std::min(until, due - pacer_.window());
  if (asleep_until > now) {
    const auto events = poller_.wait(asleep_until);
    const Nanos late = monotonic_now() - asleep_until;
    if (events.empty() && late >= 0) pacer_.overslept(late);
    return events;
  }
  const auto events = poller_.poll(std::min(until, due));
  const Nanos spun = monotonic_now() - now;
  recorder_.spun(spun);
  if (measuring_) spun_ += spun;
  return events;
}

void Worker::handle(std::span<const epoll_event> events) {
  const Nanos start = monotonic_now();
  for (const auto& event : events) {
    connections_.handle(event);
    // Between two answers: else a request that falls due would wait for the whole batch.
    if (phase_ == Phase::active) send_due(monotonic_now());
  }
  if (!measuring_ || events.empty()) return;
  const Nanos handled = monotonic_now() - start;
  busy_ += handled;
  recorder_.turn(handled);
}

void Worker::send_due(Nanos now) {
  if (driver_->next_due() <= now) driver_->run_due(std::min(now, group_end()));
}

// The connect phase: all at once, or at the plan's rate. Returns when it wants to go on.
Nanos Worker::open_more(Nanos now) {
  const auto share = [this](std::int64_t all) {
    return static_cast<std::uint32_t>((all + setup_.threads - 1 - thread_) / setup_.threads);
  };
  const auto wanted = share(setup_.opened_at_start);
  if (opened_ >= wanted) return kNever;
  const auto& ramp = setup_.plan.connect_ramp;
  const Nanos start = control_.connect_start.load();
  for (std::uint32_t batch = 0; opened_ < wanted && batch < kOpenBatch; ++batch, ++opened_) {
    if (ramp) {
      const double number = static_cast<double>(opened_) * setup_.threads + thread_;
      const Nanos due = start + static_cast<Nanos>(number / *ramp * static_cast<double>(plan::kSecond));
      if (due > now) return due;
    }
    connections_.open(opened_, monotonic_now());
  }
  return opened_ < wanted ? now : kNever;
}

Nanos Worker::group_end() const {
  const Nanos planned = start_ + plan::total_duration(setup_.groups[group_].stages);
  const Nanos stop = control_.stop_at.load(std::memory_order_relaxed);
  return stop == 0 ? planned : std::min(planned, stop);
}

void Worker::change_phase(Nanos now) {
  if (phase_ == Phase::active) {
    if (now >= group_end()) end_group(group_end());
    return;
  }
  if (control_.stop_at.load() != 0) return;
  const auto next = phase_ == Phase::connecting ? 0 : group_ + 1;
  if (next >= setup_.groups.size()) return;
  const Nanos start = control_.group_start[next].load();
  if (start == 0 || now < start) return;
  group_ = next;
  begin_group(start);
}

void Worker::begin_group(Nanos start) {
  phase_ = Phase::active;
  start_ = start;
  next_second_ = start;  // the seconds of a group count from its start
  if (setup_.groups[group_].measured()) measure_window(true, start);
  driver_->begin(setup_.groups[group_], start);
}

void Worker::end_group(Nanos end) {
  driver_->run_due(end);
  driver_->end(end);
  phase_ = Phase::between;
  if (measuring_) measure_window(false, monotonic_now());
  next_second_ = end;
  report_.in_flight.store(connections_.in_flight(), std::memory_order_release);
  report_.groups_ended.store(static_cast<std::uint32_t>(group_) + 1, std::memory_order_release);
}

void Worker::keep_seconds(Nanos now) {
  if (now < next_second_) return;
  const Nanos boundary = now - next_second_ < plan::kSecond ? next_second_ : now;
  swap_pending_ = !recorder_.swap(boundary, measuring_);
  if (!swap_pending_) next_second_ = boundary + plan::kSecond;
}

void Worker::measure_window(bool begins, Nanos now) {
  measuring_ = begins;
  if (begins) {
    window_start_ = now;
    busy_ = 0;
    spun_ = 0;
    on_wire_at_start_ = connections_.measured_on_wire().request_seconds(now);
    cpu_at_start_ = nanos_of(CLOCK_THREAD_CPUTIME_ID);
    run_delay_at_start_ = run_delay_seconds();
    return;
  }
  const auto seconds = [](Nanos nanos) {
    return static_cast<double>(nanos) / static_cast<double>(plan::kSecond);
  };
  stats_.window_seconds = seconds(now - window_start_);
  stats_.busy_seconds = seconds(busy_);
  stats_.cpu_seconds = seconds(nanos_of(CLOCK_THREAD_CPUTIME_ID) - cpu_at_start_);
  stats_.run_delay_seconds = run_delay_seconds() - run_delay_at_start_;
  stats_.spin_seconds = seconds(spun_);
  stats_.spin_window_micros = static_cast<double>(pacer_.window()) / 1e3;
  stats_.in_flight_seconds = connections_.measured_on_wire().request_seconds(now) - on_wire_at_start_;
}

}  // namespace heddle::engine
