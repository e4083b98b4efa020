#include "loadgen/plan/plan.hpp"

#include <algorithm>

namespace heddle::plan {

bool is_users(const Stage& stage) {
  return std::holds_alternative<Users>(stage.arrivals) || std::holds_alternative<UsersRamp>(stage.arrivals);
}

bool is_users(const Plan& plan) {
  return !plan.stages.empty() && is_users(plan.stages.front());
}

std::pair<std::int64_t, std::int64_t> user_range(const Stage& stage) {
  if (const auto* users = std::get_if<Users>(&stage.arrivals)) return {users->count, users->count};
  if (const auto* ramp = std::get_if<UsersRamp>(&stage.arrivals)) return {ramp->from, ramp->to};
  return {0, 0};
}

std::int64_t peak_users(const Plan& plan) {
  std::int64_t peak = 0;
  for (const auto& stage : plan.stages) {
    const auto [from, to] = user_range(stage);
    peak = std::max({peak, from, to});
  }
  return peak;
}

double highest_rate(const Stage& stage) {
  if (const auto* constant = std::get_if<ConstantRate>(&stage.arrivals)) return constant->per_second;
  if (const auto* poisson = std::get_if<Poisson>(&stage.arrivals)) return poisson->per_second;
  if (const auto* ramp = std::get_if<RateRamp>(&stage.arrivals)) return std::max(ramp->from, ramp->to);
  return 0;
}

std::int64_t connections_of(const Plan& plan) {
  return is_users(plan) ? peak_users(plan) : plan.connections;
}

std::int64_t threads_for(std::int64_t connections, std::int64_t threads) {
  return std::clamp<std::int64_t>(connections, 1, threads);
}

}  // namespace heddle::plan
