#include "loadgen/engine/setup.hpp"

#include "host-tuning/limits.hpp"
#include "loadgen/http/request.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace heddle::engine {
namespace {

std::vector<StageGroup> group_stages(const plan::Plan& plan) {
  std::vector<StageGroup> groups;
  for (std::uint32_t i = 0; i < plan.stages.size(); ++i) {
    const auto& stage = plan.stages[i];
    if (groups.empty() || groups.back().stages.front().kind != stage.kind) groups.push_back({{}, i});
    groups.back().stages.push_back(stage);
  }
  return groups;
}

}  // namespace

Setup make_setup(plan::Plan plan, const std::vector<std::string>& bodies) {
  Setup setup{.plan = plan,
              .groups = group_stages(plan),
              .mix = plan::RequestMix{plan.mix, plan.requests, plan.seed},
              .targets = {},
              .sources = {},
              .socket_options = {plan.congestion_control},
              .requests = {},
              .is_head = {}};
  for (const auto& url : plan.targets) {
    setup.targets.push_back(resolve(url));
    auto& requests = setup.requests.emplace_back();
    for (std::size_t i = 0; i < plan.requests.size(); ++i) {
      requests.push_back(http::build_request(plan.requests[i], url, bodies[i], plan.keep_alive));
    }
  }
  for (const auto& request : plan.requests) setup.is_head.push_back(request.method == "HEAD");
  setup.sources = choose_sources(plan, setup.targets);
  const bool users = plan::is_users(plan);
  setup.connections = users ? plan::peak_users(plan) : plan.connections;
  setup.opened_at_start = users ? plan::user_range(plan.stages.front()).first : plan.connections;
  setup.threads = static_cast<std::uint32_t>(std::clamp<std::int64_t>(setup.connections, 1, plan.threads));
  return setup;
}

std::int64_t descriptors_needed(const Setup& setup) {
  constexpr std::int64_t files_and_others = 32;
  return setup.connections + 2 * static_cast<std::int64_t>(setup.threads) + files_and_others;
}

void ensure_descriptors(const Setup& setup) {
  const auto needed = static_cast<std::uint64_t>(descriptors_needed(setup));
  if (host::descriptor_limit().soft >= needed) return;
  const auto raised = host::raise_descriptor_limit().after;
  if (raised.soft >= needed) return;
  throw NotMeasurable(
      fmt::format("{} descriptors are needed for {} connections, the limit is {} (ulimit -Hn)", needed,
                  setup.connections, raised.soft));
}

}  // namespace heddle::engine
