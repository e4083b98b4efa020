#include "loadgen/engine/routes.hpp"

#include "loadgen/engine/connection.hpp"

#include <algorithm>

namespace heddle::engine {
namespace {

// Of `total` things dealt to `hands` hands in turn: how many hand `hand` gets.
std::int64_t dealt(std::int64_t total, std::size_t hands, std::size_t hand) {
  const auto n = static_cast<std::int64_t>(hands);
  return (total + n - 1 - static_cast<std::int64_t>(hand)) / n;
}

}  // namespace

Place place_of(const Setup& setup, std::size_t number) {
  const auto urls = setup.answers.size();
  const auto& answers = setup.answers[number % urls];
  number /= urls;
  const auto target = answers.first + number % answers.count;
  number /= answers.count;
  const auto& sources = setup.sources_of[target];
  return {static_cast<std::uint16_t>(target), sources.empty() ? kNone : sources[number % sources.size()]};
}

std::vector<std::int64_t> spread(const Setup& setup, std::int64_t total) {
  std::vector<std::int64_t> counts;
  for (std::size_t url = 0; url < setup.answers.size(); ++url) {
    const auto of_url = dealt(total, setup.answers.size(), url);
    const auto answers = setup.answers[url].count;
    for (std::size_t i = 0; i < answers; ++i) counts.push_back(dealt(of_url, answers, i));
  }
  return counts;
}

double new_connections_per_second(const plan::Plan& plan) {
  double rate = 0;
  for (const auto& stage : plan.stages) rate = std::max(rate, plan::highest_rate(stage));
  if (!plan.keep_alive) return rate;
  return plan.requests_per_connection ? rate / static_cast<double>(*plan.requests_per_connection) : 0;
}

std::vector<TargetLoad> target_loads(const Setup& setup) {
  const auto held = spread(setup, setup.connections);
  const auto opened = spread(setup, setup.plan.connect_ramp ? 0 : setup.opened_at_start);
  const double replaced = new_connections_per_second(setup.plan);
  std::vector<TargetLoad> loads;
  std::vector<std::size_t> first;  // target of each load
  for (std::size_t i = 0; i < setup.targets.size(); ++i) {
    const auto& target = setup.targets[i];
    const auto known = std::find_if(first.begin(), first.end(), [&](std::size_t other) {
      return same_address(setup.targets[other], target);
    });
    const auto at = static_cast<std::size_t>(known - first.begin());
    if (known == first.end()) {
      first.push_back(i);
      loads.push_back({.target = target.text, .local = is_local(target)});
    }
    auto& load = loads[at];
    const bool bound = !setup.sources_of[i].empty();
    load.sources = bound ? static_cast<std::int64_t>(setup.sources_of[i].size()) : 1;
    load.connections += held[i];
    // Each URL deals from the first source on, so that one has the most.
    load.per_source += dealt(held[i], static_cast<std::size_t>(load.sources), 0);
    load.opened_at_once += opened[i];
    if (setup.connections > 0) {
      load.new_per_second += replaced * static_cast<double>(held[i]) / static_cast<double>(setup.connections);
    }
    if (target.is_unix()) load.per_source = 0;
    if (target.is_unix()) load.new_per_second = 0;
  }
  return loads;
}

}  // namespace heddle::engine
