#include "loadgen/engine/run.hpp"

#include "loadgen/engine/collector.hpp"
#include "loadgen/engine/worker.hpp"
#include "loadgen/plan/schedule.hpp"
#include "loadgen/record/throughput.hpp"
#include "loadgen/record/verdict.hpp"

#include <algorithm>
#include <chrono>
#include <pthread.h>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace heddle::engine {
namespace {

// The main thread looks around this often: seconds to collect, phases to change. Each time may take an engine
// thread off its CPU for some 20 us.
constexpr Nanos kLookAround = 50 * plan::kMillisecond;
// While all threads wait for the next phase it looks more often.
constexpr Nanos kQuickLook = plan::kMillisecond;
// All threads know a start time before it comes.
constexpr Nanos kHeadStart = 5 * plan::kMillisecond;

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

class Run {
 public:
  Run(const Setup& setup, const record::RunInfo& info, record::RunListener& listener)
      : setup_{setup}, listener_{listener}, signals_{stop_signals()}, control_{setup.sources.size()} {
    control_.asked = setup.connections;
    result_.info = info;
    std::vector<Recorder*> recorders;
    for (std::uint32_t i = 0; i < setup.threads; ++i) {
      workers_.push_back(std::make_unique<Worker>(setup, control_, i));
      recorders.push_back(&workers_.back()->recorder());
    }
    collector_.emplace(setup, std::move(recorders), listener);
    stage_end_.resize(setup.plan.stages.size(), 0);
    stage_start_.resize(setup.plan.stages.size(), 0);
  }

  record::RunResult execute() {
    listener_.started(result_.info);
    {
      const Threads threads{*this};
      go_through_phases();
    }
    collector_->finish(monotonic_now(), stage_);
    conclude();
    listener_.done(result_);
    return std::move(result_);
  }

 private:
  // The engine threads; they end with this object, however it comes to that.
  class Threads {
   public:
    explicit Threads(Run& run) : run_{run} {
      try {
        for (auto& worker : run.workers_) threads_.emplace_back([&worker] { worker->run(); });
      } catch (const std::system_error& error) {
        end();
        throw NotMeasurable(
            fmt::format("only {} of {} engine threads could be started: {}; what helps: fewer "
                        "threads, or a higher limit of processes (ulimit -u)",
                        threads_.size(), run.workers_.size(), error.code().message()));
      }
    }
    ~Threads() { end(); }
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;

   private:
    void end() {
      run_.control_.finish.store(true, std::memory_order_release);
      run_.wake_all();
      for (auto& thread : threads_) {
        if (thread.joinable()) thread.join();
      }
    }
    Run& run_;
    std::vector<std::thread> threads_;
  };

  void go_through_phases() {
    until([this] { return all_of([](Report& report) { return report.ready.load(); }); }, kNever, kQuickLook);
    if (stopped()) return;
    if (!connect()) return;
    for (std::size_t group = 0; group < setup_.groups.size() && !stopped(); ++group) {
      run_group(group);
      if (!stopped()) settle(group);
    }
  }

  // Waits until `done` or `deadline`, collecting seconds meanwhile. False when stopped or late.
  template <class Condition>
  bool until(Condition done, Nanos deadline, Nanos pause) {
    while (!stopped()) {
      const Nanos now = monotonic_now();
      if (done()) return true;
      if (now >= deadline) return false;
      collector_->poll(now, stage_);
      look_for_signals(std::min(pause, deadline - now));
      if (!all_of([](Report& report) { return !report.failed.load(); })) fail(worker_failure());
    }
    return false;
  }

  // Blocks for `pause`, less when a signal comes.
  void look_for_signals(Nanos pause) {
    const timespec time = as_timespec(pause);
    const int signal = sigtimedwait(&signals_, nullptr, &time);
    if (signal != SIGINT && signal != SIGTERM) return;
    result_.status = record::Status::interrupted;
    result_.reason = signal == SIGINT ? "SIGINT" : "SIGTERM";
    stop();
  }

  void fail(std::string reason) {
    result_.status = record::Status::failed;
    result_.reason = std::move(reason);
    stop();
  }

  void stop() {
    control_.stop_at.store(monotonic_now());
    wake_all();
  }
  [[nodiscard]] bool stopped() const { return control_.stop_at.load() != 0; }

  bool connect() {
    connect_start_ = monotonic_now();
    control_.connect_start.store(connect_start_);
    wake_all();
    const auto resolved = [this] {
      return sum([](Report& report) { return report.resolved.load(); }) >= setup_.opened_at_start;
    };
    until(resolved, connect_start_ + connect_limit(), kQuickLook);
    if (stopped()) return false;
    if (setup_.opened_at_start > 0 && control_.connections.peak.load() == 0) {
      connect_failed_ = true;
      fail("no connection could be opened");
    }
    listener_.connected(connections(), monotonic_now());
    return !stopped();
  }

  // How long the connect phase may take: every first attempt ends by its own time limit, the last of a ramp
  // begins at its end. Without a limit per attempt the default one bounds the phase.
  [[nodiscard]] Nanos connect_limit() const {
    const auto& plan = setup_.plan;
    const Nanos attempt = plan.connect_timeout > 0 ? plan.connect_timeout
                                                   : plan::kDefaultConnectTimeoutMillis * plan::kMillisecond;
    const double ramp =
        plan.connect_ramp ? static_cast<double>(setup_.opened_at_start) / *plan.connect_ramp : 0;
    return attempt + static_cast<Nanos>(ramp * static_cast<double>(plan::kSecond)) + plan::kSecond;
  }

  void run_group(std::size_t index) {
    const auto& group = setup_.groups[index];
    Nanos start = monotonic_now() + kHeadStart;
    control_.group_start[index].store(start);
    wake_all();
    until([] { return false; }, start, kQuickLook);
    const auto goes_on = [this](Nanos at) { return !stopped() || at < control_.stop_at.load(); };
    for (std::size_t i = 0; i < group.stages.size() && goes_on(start); ++i) {
      stage_ = group.first_stage + i;
      stage_start_[stage_] = start;
      listener_.stage_started(stage_, start);
      stage_end_[stage_] = start + group.stages[i].duration;
      until([] { return false; }, stage_end_[stage_], kLookAround);
      if (stopped()) stage_end_[stage_] = std::min(stage_end_[stage_], control_.stop_at.load());
      listener_.stage_ended(stage_, stage_end_[stage_]);
      start = stage_end_[stage_];
    }
  }

  // Waits for what is in flight: the warm-up's drain or the grace at the end.
  void settle(std::size_t index) {
    const Nanos end = stage_end_[stage_];
    const bool last = index + 1 == setup_.groups.size();
    const Nanos limit = last ? setup_.plan.grace : plan::kDrainLimit;
    const auto ended = [this, index] {
      return all_of([index](Report& report) { return report.groups_ended.load() > index; });
    };
    // A thread that is busy with its backlog still has to notice the end: that is not the grace's business.
    until(ended, kNever, kQuickLook);
    const bool drained =
        until([this] { return sum([](Report& report) { return report.in_flight.load(); }) == 0; },
              end + limit, kQuickLook);
    const Nanos used = std::max<Nanos>(0, monotonic_now() - end);
    if (last) {
      result_.grace_nanos = used;
    } else {
      result_.drain_nanos = used;
      result_.drain_timed_out = !drained && !stopped();
    }
  }

  record::ConnectionStats connections() const {
    record::ConnectionStats stats;
    stats.asked = setup_.connections;
    stats.peak = control_.connections.peak.load();
    stats.opened = control_.connections.open.load();
    if (const auto refused = control_.refused.load(); refused > 0) stats.errors["refused"] = refused;
    const auto all_open = control_.all_open_at.load();
    if (all_open != 0 && setup_.opened_at_start == setup_.connections)
      stats.all_open_nanos = all_open - connect_start_;
    return stats;
  }

  void conclude() {
    auto stats = connections();
    stats.opened = 0;
    stats.asked = 0;
    stats.errors.clear();
    for (const auto& worker : workers_) {
      stats.merge(worker->connections());
      auto thread = worker->stats();
      thread.lag = collector_->lag_of(result_.generator.threads.size());
      thread.sent = collector_->sent_by(result_.generator.threads.size());
      result_.generator.threads.push_back(std::move(thread));
    }
    for (std::size_t i = 0; i < setup_.sources.size(); ++i) {
      stats.by_source[setup_.sources[i].text].peak = control_.sources[i].peak.load();
    }
    result_.connections = std::move(stats);
    if (connect_failed_) result_.reason = why_nothing_opened(result_.connections);
    for (std::size_t s = 0; s < setup_.plan.stages.size(); ++s) {
      if (stage_start_[s] == 0) continue;
      record::StageResult stage{setup_.plan.stages[s].name,
                                setup_.plan.stages[s].kind == plan::StageKind::measure,
                                stage_start_[s],
                                stage_end_[s],
                                {}};
      for (std::size_t c = 0; c < setup_.plan.requests.size(); ++c) {
        stage.classes.push_back(collector_->total(s, c));
        check_balance(stage.name, setup_.plan.requests[c].name, stage.classes.back().counts);
      }
      result_.stages.push_back(std::move(stage));
    }
    if (result_.connections.opened == 0 && result_.status == record::Status::complete &&
        setup_.connections > 0) {
      result_.status = record::Status::failed;
      result_.reason = why_nothing_opened(result_.connections);
    }
    const auto window = result_.window();
    const auto total = window ? window->total() : record::Cell{};
    if (window) check_success(total.counts);
    result_.generator.lag = collector_->lag();
    for (std::size_t s = 0; s < setup_.plan.stages.size(); ++s) {
      if (setup_.plan.stages[s].kind == plan::StageKind::measure)
        result_.generator.stage_lags.push_back(collector_->lag_of_stage(s));
    }
    result_.generator.turns = collector_->turns();
    record::judge(result_.generator, total.service);
    if (window) weigh(*window, total);
  }

  // Little's law and the cause of a missed rate.
  void weigh(const record::StageResult& window, const record::Cell& total) {
    result_.littles_law = record::littles_law(result_.generator, total);
    if (auto problem = record::lost_time(*result_.littles_law, total); !problem.empty())
      fail_balance(problem);
    result_.throughput = record::throughput(result_, window, total);
  }

  // After the failure of a thread the accounts are incomplete: that failure is what to tell.
  void fail_balance(const std::string& problem) {
    if (!worker_failure().empty()) return;
    result_.status = record::Status::failed;
    result_.reason = problem;
  }

  void check_balance(const std::string& stage, const std::string& request, const record::Counts& counts) {
    auto problem = record::imbalance(counts);
    if (!problem.empty()) fail_balance(stage + ", " + request + ": " + problem);
  }

  // Numbers of a run in which nothing worked measure no server.
  void check_success(const record::Counts& counts) {
    if (result_.status != record::Status::complete || counts.planned == 0 || counts.ok > 0) return;
    result_.status = record::Status::failed;
    result_.reason = record::no_success(counts);
  }

  std::string why_nothing_opened(const record::ConnectionStats& stats) const {
    std::string reason =
        fmt::format("no connection to {} could be opened", fmt::join(result_.info.targets, ", "));
    for (const auto& [name, count] : stats.errors)
      reason += ", " + name + " " + std::to_string(count) + " times";
    if (stats.refused() > 0) reason += "; is the server up, and on this port?";
    return reason;
  }

  void wake_all() {
    for (auto& worker : workers_) worker->wake();
  }
  template <class Get>
  std::int64_t sum(Get get) {
    std::int64_t total = 0;
    for (auto& worker : workers_) total += get(worker->report());
    return total;
  }
  template <class Check>
  bool all_of(Check check) {
    return std::all_of(workers_.begin(), workers_.end(),
                       [&](auto& worker) { return check(worker->report()); });
  }
  std::string worker_failure() {
    for (auto& worker : workers_) {
      // The text was written before the flag was set.
      if (worker->report().failed.load()) return "an engine thread failed: " + worker->failure();
    }
    return {};
  }

  const Setup& setup_;
  record::RunListener& listener_;
  sigset_t signals_;
  Control control_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::optional<Collector> collector_;
  record::RunResult result_;
  std::size_t stage_ = 0;
  Nanos connect_start_ = 0;
  bool connect_failed_ = false;
  std::vector<Nanos> stage_start_;
  std::vector<Nanos> stage_end_;
};

}  // namespace

void block_stop_signals() {
  const auto signals = stop_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

namespace {

record::Settings settings_of(const Setup& setup) {
  const auto& plan = setup.plan;
  return {.threads = setup.threads,
          .connect_per_second = plan.connect_ramp,
          .keep_alive = plan.keep_alive,
          .requests_per_connection = plan.requests_per_connection,
          .when_busy = plan.when_busy == plan::WhenBusy::shed ? "shed" : "queue",
          .request_timeout = plan.request_timeout,
          .connect_timeout = plan.connect_timeout,
          .grace = plan.grace,
          .spin = plan.spin,
          .own_descriptor_tables = setup.own_descriptor_tables,
          .congestion_control = plan.congestion_control};
}

}  // namespace

record::RunInfo describe(const Setup& setup) {
  record::RunInfo info;
  info.name = setup.plan.name;
  info.seed = setup.plan.seed;
  const auto epoch = std::chrono::system_clock::now().time_since_epoch();
  info.anchor = {std::chrono::duration_cast<std::chrono::milliseconds>(epoch).count(), monotonic_now()};
  for (const auto& target : setup.targets) info.targets.push_back(target.text);
  for (const auto& request : setup.plan.requests) info.classes.push_back(request.name);
  for (const auto& stage : setup.plan.stages) {
    info.stages.push_back(stage.name);
    info.stage_measured.push_back(stage.kind == plan::StageKind::measure);
  }
  info.users = plan::is_users(setup.plan);
  info.closed_loop = info.users && setup.plan.think.kind == plan::ThinkKind::none;
  info.connections = setup.connections;
  info.settings = settings_of(setup);
  info.planned_nanos = plan::total_duration(setup.plan.stages);
  return info;
}

record::RunResult run_load(const Setup& setup, const record::RunInfo& info, record::RunListener& listener) {
  return Run{setup, info, listener}.execute();
}

}  // namespace heddle::engine
