#include "loadgen/engine/setup.hpp"

#include "host-tuning/limits.hpp"
#include "loadgen/engine/descriptor_budget.hpp"
#include "loadgen/engine/port_budget.hpp"
#include "loadgen/engine/routes.hpp"
#include "loadgen/engine/sources.hpp"
#include "loadgen/http/request.hpp"

#include <algorithm>
#include <cerrno>
#include <sched.h>
#include <stdexcept>
#include <system_error>
#include <thread>

#include <fmt/format.h>

namespace heddle::engine {
namespace {

// An address that does not answer in this time would only slow the run down.
constexpr plan::Nanos kProbeLimit = plan::kSecond;

// Output files and their temporary copies, pipes of the caller; more than a run has opened at once.
constexpr std::int64_t kFiles = 16;

std::vector<StageGroup> group_stages(const plan::Plan& plan) {
  std::vector<StageGroup> groups;
  for (std::uint32_t i = 0; i < plan.stages.size(); ++i) {
    const auto& stage = plan.stages[i];
    if (groups.empty() || groups.back().stages.front().kind != stage.kind) groups.push_back({{}, i});
    groups.back().stages.push_back(stage);
  }
  return groups;
}

std::vector<Address> usable_answers(const plan::Url& url, const Resolver& resolver,
                                    const std::vector<Address>& listed, std::vector<std::string>& warnings) {
  auto answers = those_with_a_source(url.host, resolver(url), listed, warnings);
  if (answers.size() < 2) return answers;
  const auto errors = try_connect(answers, kProbeLimit);
  return those_that_answer(url.host, std::move(answers), errors, warnings);
}

// As many as the target with the most connections needs; all in 127/8 share them.
std::vector<Address> automatic_sources(const Setup& setup) {
  const auto ports = read_port_range().usable();
  const bool short_lived = !setup.plan.keep_alive || setup.plan.requests_per_connection.has_value();
  std::int64_t count = 0;
  const auto loads = target_loads(setup);
  for (const auto& target : setup.targets) {
    if (!is_loopback_v4(target)) continue;
    const auto load = std::find_if(loads.begin(), loads.end(),
                                   [&](const TargetLoad& entry) { return entry.target == target.text; });
    count = std::max(count, sources_needed(*load, ports, short_lived));
  }
  return loopback_sources(static_cast<std::size_t>(count), setup.targets);
}

void choose_sources(Setup& setup, std::vector<Address> listed) {
  setup.sources_of.resize(setup.targets.size());
  setup.sources = setup.plan.auto_sources ? automatic_sources(setup) : std::move(listed);
  for (std::size_t i = 0; i < setup.targets.size(); ++i) {
    // Automatic sources reach nothing but this host.
    if (setup.plan.auto_sources && !is_loopback_v4(setup.targets[i])) continue;
    setup.sources_of[i] = sources_for(setup.targets[i], setup.sources);
  }
}

// A sandbox may forbid it (seccomp): found out on a thread of its own, whose table is then gone again.
void check_unshare(const Setup& setup, std::uint64_t limit) {
  int error = 0;
  std::thread{[&error] { error = unshare(CLONE_FILES) == 0 ? 0 : errno; }}.join();
  if (error == 0) return;
  throw NotMeasurable(fmt::format(
      "{} connections need a descriptor table per engine thread, which this host forbids (unshare: {}); what "
      "helps: fewer connections than the limit of {}, a higher limit (ulimit -Hn), or a sandbox that allows "
      "it",
      setup.connections, std::generic_category().message(error), limit));
}

}  // namespace

Setup make_setup(plan::Plan plan, const std::vector<std::string>& bodies, const Resolver& resolver) {
  Setup setup{.plan = plan,
              .groups = group_stages(plan),
              .mix = plan::RequestMix{plan.mix, plan.requests, plan.seed},
              .targets = {},
              .answers = {},
              .sources = {},
              .sources_of = {},
              .socket_options = {plan.congestion_control},
              .requests = {},
              .is_head = {},
              .warnings = {}};
  auto listed = listed_sources(plan.sources);
  for (const auto& url : plan.targets) {
    const auto answers = usable_answers(url, resolver, listed, setup.warnings);
    setup.answers.push_back({setup.targets.size(), answers.size()});
    setup.targets.insert(setup.targets.end(), answers.begin(), answers.end());
    std::vector<std::string> requests;
    for (std::size_t i = 0; i < plan.requests.size(); ++i) {
      requests.push_back(http::build_request(plan.requests[i], url, bodies[i], plan.keep_alive));
    }
    setup.requests.insert(setup.requests.end(), answers.size(), requests);
  }
  if (setup.targets.size() > UINT16_MAX) {  // Connection::target
    throw std::invalid_argument(fmt::format("targets: found {} addresses in all, accepted: at most {}",
                                            setup.targets.size(), UINT16_MAX));
  }
  for (const auto& request : plan.requests) setup.is_head.push_back(request.method == "HEAD");
  const bool users = plan::is_users(plan);
  setup.connections = plan::connections_of(plan);
  setup.opened_at_start = users ? plan::user_range(plan.stages.front()).first : plan.connections;
  setup.threads = static_cast<std::uint32_t>(plan::threads_for(setup.connections, plan.threads));
  choose_sources(setup, std::move(listed));
  return setup;
}

void ensure_descriptors(Setup& setup) {
  const DescriptorNeed need{.connections = setup.connections,
                            .threads = static_cast<std::int64_t>(setup.threads),
                            .others = count_open_descriptors() + kFiles,
                            .tables = setup.plan.descriptor_tables};
  const auto limit = host::descriptor_limit();
  const auto decision = decide_descriptors(need, limit.hard);
  if (limit.soft < static_cast<std::uint64_t>(decision.per_table)) (void)host::raise_descriptor_limit();
  setup.own_descriptor_tables = decision.own_tables;
  if (decision.own_tables) check_unshare(setup, limit.hard);
  if (decision.own_tables && need.tables == plan::DescriptorTables::automatic) {
    setup.warnings.push_back(fmt::format(
        "each engine thread has its own descriptor table: {} connections do not fit into one of {}",
        setup.connections, limit.hard));
  }
}

void ensure_ports(Setup& setup) {
  const auto loads = target_loads(setup);
  const auto add = [&setup](const std::vector<std::string>& warnings) {
    setup.warnings.insert(setup.warnings.end(), warnings.begin(), warnings.end());
  };
  add(check_ports(loads, read_port_range()));
  add(check_backlog(loads, read_somaxconn()));
}

}  // namespace heddle::engine
