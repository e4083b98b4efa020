#include "loadgen/cli/plan_of.hpp"

#include "host-tuning/cpus.hpp"
#include "loadgen/cli/values.hpp"
#include "loadgen/options.hpp"
#include "loadgen/plan/plan_reader.hpp"
#include "loadgen/plan/schedule.hpp"

#include <algorithm>
#include <stdexcept>
#include <sys/un.h>

#include <fmt/format.h>

namespace heddle::load {
namespace {

constexpr std::int64_t kDefaultConnections = 10;

plan::Url url_of(const Arguments& arguments, const std::string& text) {
  plan::Url url;
  try {
    url = plan::parse_url(text);
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
  if (!arguments.has("unix-socket")) return url;
  if (!url.socket_path.empty()) throw UsageError("--unix-socket: not together with a unix: URL");
  url.socket_path = arguments.text("unix-socket", "");
  constexpr std::size_t longest = sizeof(sockaddr_un::sun_path) - 1;
  if (url.socket_path.empty() || url.socket_path.size() > longest) {
    refuse("unix-socket", url.socket_path, fmt::format("a path of 1 to {} bytes", longest));
  }
  return url;
}

plan::RequestSpec request_of(const Arguments& arguments, const plan::Url& url) {
  plan::RequestSpec request;
  request.name = "request";
  request.path = url.path;
  request.body_file = arguments.text("body", "");
  request.method = arguments.text("method", request.body_file.empty() ? "GET" : "POST");
  request.expect_status = static_cast<int>(arguments.integer("expect-status", 100, 599, 200));
  for (const auto& header : arguments.all("header")) request.headers.push_back(parse_header(header));
  return request;
}

void read_connections(const Arguments& arguments, plan::Plan& plan) {
  plan.connections = arguments.integer("connections", 1, plan::kMaxConnections, kDefaultConnections);
  if (arguments.has("connect-rate"))
    plan.connect_ramp = arguments.number("connect-rate", 1, plan::kMaxRate, 1);
  plan.keep_alive = !arguments.has("no-keepalive");
  if (arguments.has("requests-per-connection")) {
    if (!plan.keep_alive) throw UsageError("--requests-per-connection: not together with --no-keepalive");
    plan.requests_per_connection = arguments.integer("requests-per-connection", 1, INT64_MAX, 1);
  }
  if (arguments.has("source")) {
    plan.sources = parse_list(arguments.text("source", ""), "source");
    plan.auto_sources = false;
  }
  plan.request_timeout = arguments.duration("timeout", "60s");
  plan.connect_timeout = arguments.duration("connect-timeout", "20s");
  plan.grace = arguments.duration("grace", "2s");
  const auto tables = arguments.choice("descriptor-tables", {"auto", "shared", "per-thread"});
  if (tables == "shared") plan.descriptor_tables = plan::DescriptorTables::shared;
  if (tables == "per-thread") plan.descriptor_tables = plan::DescriptorTables::per_thread;
}

plan::Arrivals poisson_of(const plan::Arrivals& arrivals) {
  const auto* constant = std::get_if<plan::ConstantRate>(&arrivals);
  if (constant == nullptr) throw UsageError("--poisson: for constant rates only, found a ramp");
  return plan::Poisson{constant->per_second};
}

// The rates as they were asked for; empty for a closed loop.
std::vector<plan::Stage> rate_stages(const Arguments& arguments) {
  std::vector<plan::Stage> stages;
  for (const auto& text : arguments.all("stage")) {
    const auto stage = parse_stage(text);
    stages.push_back({fmt::format("stage-{}", stages.size() + 1), plan::StageKind::measure, stage.duration,
                      stage.arrivals});
  }
  if (arguments.has("rate")) {
    if (!stages.empty()) throw UsageError("--rate: not together with --stage");
    stages.push_back(
        {"measure", plan::StageKind::measure, 0, parse_rate(arguments.text("rate", ""), "rate")});
  }
  if (arguments.command() == Command::find_max) {
    stages.push_back({"measure", plan::StageKind::measure, 0, plan::ConstantRate{1}});
  }
  for (auto& stage : stages) {
    if (arguments.has("poisson")) stage.arrivals = poisson_of(stage.arrivals);
  }
  return stages;
}

plan::Nanos measure_time(const Arguments& arguments) {
  const bool search = arguments.command() == Command::find_max;
  const auto* option = search ? "step-time" : "duration";
  const auto time = arguments.duration(option, search ? "5s" : "10s");
  if (time < plan::kMillisecond) refuse(option, arguments.text(option, ""), "1ms or more");
  return time;
}

// The load that goes before the first stage: a ramp's first rate.
plan::Arrivals warmup_arrivals(const plan::Arrivals& first) {
  const auto* ramp = std::get_if<plan::RateRamp>(&first);
  if (ramp == nullptr) return first;
  if (ramp->from <= 0) throw UsageError("--warmup: a load that begins with 0 requests per second has none");
  return plan::ConstantRate{ramp->from};
}

// A load in which nothing is ever due would measure nothing for as long as it lasts.
void check_due(const plan::Plan& plan, std::string_view option) {
  const auto may_send = [](const plan::Stage& stage) {
    if (stage.kind == plan::StageKind::warmup) return false;
    const bool counted = !plan::is_users(stage) && !std::holds_alternative<plan::Poisson>(stage.arrivals);
    return !counted || plan::arrival_count(stage) > 0;
  };
  if (std::any_of(plan.stages.begin(), plan.stages.end(), may_send)) return;
  throw UsageError(fmt::format(
      "--{}: found a load without one request, accepted: one at least in its whole length", option));
}

void read_load(const Arguments& arguments, plan::Plan& plan) {
  plan.when_busy = arguments.choice("when-busy", {"queue", "shed"}) == "shed" ? plan::WhenBusy::shed
                                                                              : plan::WhenBusy::queue;
  auto stages = rate_stages(arguments);
  const bool staged = arguments.has("stage");
  if (staged && arguments.has("duration")) throw UsageError("--duration: not together with --stage");
  if (stages.empty()) {
    for (const char* option : {"poisson", "when-busy"}) {
      if (arguments.has(option)) throw UsageError(fmt::format("--{}: needs --rate or --stage", option));
    }
    stages.push_back({"measure", plan::StageKind::measure, 0, plan::Users{plan.connections}});
    plan.think = parse_think(arguments.text("think", "0"));
  } else if (arguments.has("think")) {
    throw UsageError("--think: not together with a rate, which does not wait for answers");
  }
  if (!staged) stages.front().duration = measure_time(arguments);
  const auto warmup = arguments.duration("warmup", arguments.command() == Command::find_max ? "1s" : "0s");
  if (warmup > 0) {
    plan.stages.push_back(
        {"warmup", plan::StageKind::warmup, warmup, warmup_arrivals(stages.front().arrivals)});
  }
  plan.stages.insert(plan.stages.end(), stages.begin(), stages.end());
  if (arguments.command() == Command::run) check_due(plan, staged ? "stage" : "rate");
}

}  // namespace

plan::Plan engine_plan_of(const Arguments& arguments) {
  plan::Plan plan;
  plan.threads = arguments.integer("threads", 1, plan::kMaxThreads, 1);
  plan.spin = parse_spin(arguments.text("spin", "auto"));
  if (!arguments.has("cpus")) return plan;
  try {
    plan.cpus = host::parse_cpu_list(arguments.text("cpus", ""));
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("--cpus: {}", error.what()));
  }
  return plan;
}

plan::Plan plan_of(const Arguments& arguments, const std::string& text) {
  auto plan = engine_plan_of(arguments);
  auto url = url_of(arguments, text);
  plan.requests.push_back(request_of(arguments, url));
  url.path = std::string{"/"};
  plan.name = text;
  plan.targets.push_back(url);
  read_connections(arguments, plan);
  read_load(arguments, plan);
  plan::check_plan(plan);
  return plan;
}

}  // namespace heddle::load
