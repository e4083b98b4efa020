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
#include <set>
#include <sys/prctl.h>
#include <system_error>
#include <unistd.h>

namespace heddle::engine {
namespace {

// A shorter stage has too few turns of the loop to tell its share of work.
constexpr Nanos kShortestJudgedStage = 500 * plan::kMillisecond;

// Seconds that this thread was ready to run but did not: second field of schedstat (Documentation/scheduler/
// sched-stats.rst). Blocks for a few microseconds; 0 when the kernel does not tell.
double run_delay_seconds() {
  std::ifstream in{"/proc/thread-self/schedstat"};
  std::int64_t on_cpu = 0;
  std::int64_t waiting = 0;
  in >> on_cpu >> waiting;
  return static_cast<double>(waiting) * 1e-9;
}

// A thread that shares its CPU with others must not keep it from them: it sleeps until the due time unless
// each thread has a CPU of its own: pinned to it, or in a set that somebody chose for this process (taskset,
// a container), or with one to spare on the host.
std::optional<Nanos> spin_window(const Setup& setup) {
  if (setup.plan.spin) return setup.plan.spin;
  const std::set<int> pinned{setup.plan.cpus.begin(), setup.plan.cpus.end()};
  const auto available = host::available_cpus().size();
  const bool chosen = static_cast<long>(available) < sysconf(_SC_NPROCESSORS_ONLN);
  const auto cpus = !pinned.empty() ? pinned.size() : chosen ? available : available - 1;
  return cpus >= setup.threads ? std::nullopt : std::optional<Nanos>{0};
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
    if (phase_ == Phase::ending) until = turn_start;
    until = std::min(until, swap_pending_ ? turn_start + plan::kMillisecond : next_second_);
    report_.in_flight.store(connections_.in_flight(), std::memory_order_release);
    if (measuring_) busy_ += monotonic_now() - turn_start;
    handle(wait(due, until));
  }
  const Nanos now = monotonic_now();
  if (phase_ == Phase::active) end_group(std::min(now, group_end()));
  while (phase_ == Phase::ending) count_unsent();
  // Later than `now`: the end of a group may have sent requests.
  const Nanos last = monotonic_now();
  connections_.abandon(last);
  stats_.total_in_flight_seconds = connections_.measured_on_wire().request_seconds(last);
  recorder_.close(last);
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
    connections_.open(opened_);
  }
  return opened_ < wanted ? now : kNever;
}

Nanos Worker::group_end() const {
  const Nanos stop = control_.stop_at.load(std::memory_order_relaxed);
  return stop == 0 ? planned_end_ : std::min(planned_end_, stop);
}

void Worker::change_phase(Nanos now) {
  if (phase_ == Phase::active) {
    if (now >= group_end()) return end_group(group_end());
    if (stage_ends_.size() > 1 && now >= stage_ends_.front()) end_stage(now);
    return;
  }
  if (phase_ == Phase::ending) return count_unsent();
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
  planned_end_ = start + plan::total_duration(setup_.groups[group_].stages);
  connections_.load_ends(group_end());
  if (setup_.groups[group_].measured()) begin_window(start);
  driver_->begin(setup_.groups[group_], start);
}

void Worker::end_group(Nanos end) {
  driver_->run_due(end);
  connections_.load_ends(end);
  ended_at_ = end;
  next_second_ = end;
  phase_ = Phase::ending;
  if (measuring_) end_window(monotonic_now());
  count_unsent();
}

void Worker::count_unsent() {
  if (!driver_->end(ended_at_)) return;
  phase_ = Phase::between;
  report_.in_flight.store(connections_.in_flight(), std::memory_order_release);
  report_.groups_ended.store(static_cast<std::uint32_t>(group_) + 1, std::memory_order_release);
}

void Worker::keep_seconds(Nanos now) {
  if (now < next_second_) return;
  const Nanos boundary = now - next_second_ < plan::kSecond ? next_second_ : now;
  swap_pending_ = !recorder_.swap(boundary, measuring_);
  if (!swap_pending_) next_second_ = boundary + plan::kSecond;
}

Worker::Usage Worker::usage(Nanos now) const {
  return {now, busy_, spun_, nanos_of(CLOCK_THREAD_CPUTIME_ID), run_delay_seconds()};
}

void Worker::fill(record::ThreadStats& stats, const Usage& from, const Usage& to) {
  const auto seconds = [](Nanos nanos) {
    return static_cast<double>(nanos) / static_cast<double>(plan::kSecond);
  };
  stats.window_seconds = seconds(to.at - from.at);
  stats.busy_seconds = seconds(to.busy - from.busy);
  stats.cpu_seconds = seconds(to.cpu - from.cpu);
  stats.spin_seconds = seconds(to.spun - from.spun);
  stats.run_delay_seconds = to.run_delay_seconds - from.run_delay_seconds;
}

void Worker::begin_window(Nanos start) {
  measuring_ = true;
  Nanos end = start;
  for (const auto& stage : setup_.groups[group_].stages) stage_ends_.push_back(end += stage.duration);
  on_wire_at_start_ = connections_.measured_on_wire().request_seconds(start);
  stage_start_ = window_start_ = usage(start);
}

void Worker::end_stage(Nanos now) {
  const Usage end = usage(now);
  if (end.at - stage_start_.at >= kShortestJudgedStage) {
    record::ThreadStats stage;
    fill(stage, stage_start_, end);
    stats_.worst_useful_share = std::max(stats_.worst_useful_share, stage.useful_share());
    stats_.worst_delay_share = std::max(stats_.worst_delay_share, stage.delay_share());
  }
  stage_start_ = end;
  stage_ends_.erase(stage_ends_.begin());
}

void Worker::end_window(Nanos now) {
  measuring_ = false;
  end_stage(now);
  fill(stats_, window_start_, stage_start_);
  stats_.spin_window_micros = static_cast<double>(pacer_.window()) / 1e3;
  stats_.in_flight_seconds = connections_.measured_on_wire().request_seconds(now) - on_wire_at_start_;
}

}  // namespace heddle::engine
