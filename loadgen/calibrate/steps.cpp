#include "loadgen/calibrate/steps.hpp"

#include "host-tuning/cpus.hpp"
#include "loadgen/calibrate/arithmetic.hpp"
#include "loadgen/calibrate/null_server.hpp"
#include "loadgen/engine/host_check.hpp"
#include "loadgen/engine/run.hpp"
#include "loadgen/engine/setup.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

namespace heddle::load {
namespace {

using engine::Nanos;

constexpr std::size_t kMeasureStage = 1;  // after the warm-up
// Requests of the last instant that wait for a connection are sent in a stage behind the one that counts:
// without an answer they would only say "at least".
constexpr Nanos kTail = 300 * plan::kMillisecond;
constexpr double kTailRate = 10;
// Connects so many in a second: a burst of thousands would overflow the backlog, and the kernel repeats a
// lost SYN after a second only.
constexpr double kConnectsPerSecond = 20'000;
// The stall begins here in the window: what came before shows that all was well.
constexpr double kStallAt = 0.25;
// Of the stall: the host's own hiccups, and an answer's ordinary time. The service time's p99 may be this
// much, too; a stall that shows there would be the whole of it.
constexpr double kStallTolerance = 0.1;
// With more load than this the queue behind the stall, not the stall, would be measured.
constexpr double kStallUtilisation = 1.0 / 6;
// A sample above it is enough for a p99 that the schedule determines; the lateness needs more.
constexpr std::int64_t kSamplesAboveStall = 1;
constexpr std::int64_t kSamplesAboveLag = record::kSamplesAboveForCharts;

// Listens to nothing but the start of the measure stage.
class StageStart final : public record::RunListener {
 public:
  using Action = std::function<void(Nanos)>;
  StageStart(std::size_t stage, Action action) : stage_{stage}, action_{std::move(action)} {}

  void started(const record::RunInfo&) override {}
  void connected(const record::ConnectionStats&, std::int64_t) override {}
  void stage_started(std::size_t stage, std::int64_t at) override {
    if (stage == stage_ && action_) action_(at);
  }
  void stage_ended(std::size_t, std::int64_t) override {}
  void second(const record::Second&) override {}
  void done(const record::RunResult&) override {}

 private:
  std::size_t stage_;
  Action action_;
};

double millis(Nanos nanos) {
  return static_cast<double>(nanos) / 1e6;
}

class Bench {
 public:
  explicit Bench(const MeasureOptions& options) : options_{options}, sizes_{options.sizes} {
    const auto choice = choose_cpus(host::available_cpus(), options.cpus, options.threads);
    result_.host = this_host();
    result_.threads = options.threads;
    result_.thread_cpus = choice.threads;
    result_.server_cpus = choice.servers;
    result_.shared_cpus = choice.shared;
    for (std::int64_t i = 0; i < options.threads; ++i) {
      const auto cpu = choice.servers[static_cast<std::size_t>(i) % choice.servers.size()];
      servers_.push_back(std::make_unique<NullServer>(cpu));
    }
  }

  Calibration measure() {
    for (const auto connections : sizes_.ceiling_connections) measure_ceiling(connections);
    const auto threads = static_cast<double>(options_.threads);
    const auto& first = result_.ceiling.front();
    measure_pacing(first.connections * options_.threads,
                   sizes_.pacing_share * first.per_second.median * threads);
    measure_pacing(sizes_.many_connections, sizes_.many_rate);
    measure_stall(first.per_second.median * threads);
    return std::move(result_);
  }

 private:
  [[nodiscard]] plan::Plan plan_of(std::int64_t connections, const plan::Arrivals& arrivals,
                                   Nanos duration) const {
    plan::Plan plan;
    plan.name = "calibration";
    for (const auto& server : servers_) plan.targets.push_back(plan::parse_url(server->url()));
    plan.connections = connections;
    plan.threads = options_.threads;
    plan.cpus = result_.thread_cpus;
    plan.spin = options_.spin;
    plan.connect_ramp = kConnectsPerSecond;
    plan.request_timeout = 10 * plan::kSecond;
    plan.stages = {{"warmup", plan::StageKind::warmup, sizes_.warmup, arrivals},
                   {"measure", plan::StageKind::measure, duration, arrivals}};
    plan.requests.resize(1);
    plan.requests[0].name = "null";
    return plan;
  }

  record::RunResult run(const plan::Plan& plan, const StageStart::Action& at_start = {}) {
    const auto setup = engine::checked_setup(plan, {std::string{}});
    StageStart listener{kMeasureStage, at_start};
    auto result = engine::run_load(setup, engine::describe(setup), listener);
    if (result.status == record::Status::interrupted) throw Interrupted(result.reason);
    for (const auto& server : servers_) {
      if (const auto problem = server->problem(); !problem.empty()) throw std::runtime_error(problem);
    }
    if (result.status == record::Status::failed)
      throw std::runtime_error(fmt::format("a calibration run failed: {}", result.reason));
    for (const auto& thread : result.generator.threads) {
      if (thread.window_seconds <= 0) continue;
      result_.run_delay_share =
          std::max(result_.run_delay_share, thread.run_delay_seconds / thread.window_seconds);
    }
    const auto counts = result.stages.at(kMeasureStage).total().counts;
    if (counts.errors() > 0 || counts.ok == 0) {
      throw std::runtime_error(
          fmt::format("a calibration run had {} errors and {} answers against the null "
                      "server of this program; is something else wrong with this host?",
                      counts.errors(), counts.ok));
    }
    return result;
  }

  void measure_ceiling(std::int64_t connections) {
    std::vector<double> rates;
    std::vector<double> cpu;
    std::vector<double> busy;
    const auto all = connections * options_.threads;
    for (int i = 0; i < sizes_.repeats; ++i) {
      options_.progress(fmt::format("ceiling at {} connections, {} of {}", all, i + 1, sizes_.repeats));
      const auto result = run(plan_of(all, plan::Users{all}, sizes_.ceiling));
      const auto in_time = static_cast<double>(result.stages.at(kMeasureStage).total().counts.ok_in_time);
      rates.push_back(result.throughput->ok_per_second / static_cast<double>(options_.threads));
      cpu.push_back(result.generator.cpu_seconds / in_time * 1e6);
      busy.push_back(result.generator.useful_busy_share);
    }
    result_.ceiling.push_back({connections, spread_of(rates), spread_of(cpu), spread_of(busy)});
  }

  // A host that has too few descriptors for it says so in the result.
  void measure_pacing(std::int64_t connections, double per_second) {
    options_.progress(fmt::format("pacing at {:.0f}/s on {} connections", per_second, connections));
    PacingPoint point;
    point.connections = connections;
    point.per_second = per_second;
    try {
      const auto result = run(plan_of(connections, plan::ConstantRate{per_second}, sizes_.pacing));
      const auto& lag = result.generator.lag;
      point.p50 = quantile(lag, 0.5, kSamplesAboveLag);
      point.p99 = quantile(lag, 0.99, kSamplesAboveLag);
      if (lag.count() > 0) point.max = lag.max();
      point.busy_share = result.generator.useful_busy_share;
    } catch (const engine::NotMeasurable& why) {
      point.skipped = why.what();
    }
    result_.pacing.push_back(std::move(point));
  }

  void measure_stall(double ceiling) {
    auto& check = result_.stall;
    check.connections = std::max(sizes_.stall_connections, options_.threads);
    check.window_seconds = static_cast<double>(sizes_.stall_window) / 1e9;
    // On a slow host: still twice as many requests per hundred as can be on the wire.
    const double least = 2 * 100 * static_cast<double>(check.connections) / check.window_seconds;
    check.per_second = std::max(least, std::min(sizes_.stall_rate, kStallUtilisation * ceiling));
    options_.progress(
        fmt::format("a stall of {:.0f} ms at {:.0f}/s", millis(sizes_.stall), check.per_second));
    const auto begin = static_cast<Nanos>(kStallAt * static_cast<double>(sizes_.stall_window));
    auto plan = plan_of(check.connections, plan::ConstantRate{check.per_second}, sizes_.stall_window);
    plan.stages.push_back({"tail", plan::StageKind::measure, kTail, plan::ConstantRate{kTailRate}});
    const auto result = run(plan, [&](Nanos start) {
      for (auto& server : servers_) server->stall(start + begin, sizes_.stall);
    });
    double longest = 0;
    for (const auto& server : servers_) {
      const auto stall = server->last_stall();
      if (!stall) throw std::runtime_error("the null server did not stall when told to");
      longest = std::max(longest, millis(stall->ended - stall->began));
    }
    check.stall_millis = longest;
    check.expected_due_millis =
        stall_quantile(longest, millis(sizes_.stall_window), check.per_second / ceiling, 0.99);
    check.tolerance_millis = check.most_sent_millis = kStallTolerance * longest;
    const auto window = result.stages.at(kMeasureStage).total();
    check.unanswered = window.latency.waiting.count();
    check.due_millis = p99_millis(window.latency);
    check.sent_millis = p99_millis(window.service);
  }

  static std::optional<double> p99_millis(const record::Distribution& distribution) {
    const auto found = quantile(distribution, 0.99, kSamplesAboveStall);
    if (!found || found->at_least) return std::nullopt;
    return static_cast<double>(found->micros) / 1000;
  }

  const MeasureOptions& options_;
  const StepSizes& sizes_;
  std::vector<std::unique_ptr<NullServer>> servers_;
  Calibration result_;
};

}  // namespace

StepSizes quick_steps() {
  StepSizes sizes;
  sizes.warmup = 100 * plan::kMillisecond;
  sizes.ceiling = 300 * plan::kMillisecond;
  sizes.pacing = plan::kSecond;
  return sizes;
}

Calibration measure_host(const MeasureOptions& options) {
  return Bench{options}.measure();
}

}  // namespace heddle::load
