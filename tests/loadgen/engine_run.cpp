#include "tests/loadgen/engine_run.hpp"

#include <gtest/gtest.h>

namespace heddle::testing {

plan::Plan plan_for(const std::string& url, plan::Arrivals arrivals, plan::Nanos duration,
                    std::int64_t connections) {
  plan::Plan plan;
  plan.targets = {plan::parse_url(url)};
  plan.connections = connections;
  plan.stages = {{"measure", plan::StageKind::measure, duration, arrivals}};
  plan.requests.resize(1);
  plan.requests[0].name = "get";
  plan.grace = 300 * plan::kMillisecond;
  return plan;
}

record::RunResult run_as_it_is(const plan::Plan& plan, record::RunListener& listener) {
  const auto setup = engine::make_setup(plan, std::vector<std::string>(plan.requests.size()));
  return engine::run_load(setup, engine::describe(setup), listener);
}

record::RunResult run(const plan::Plan& plan, std::vector<std::string> bodies) {
  Listener listener;
  bodies.resize(plan.requests.size());
  const auto setup = engine::make_setup(plan, bodies);
  auto result = engine::run_load(setup, engine::describe(setup), listener);
  const auto counts = counts_of(result);
  const bool nothing_worked = counts.planned > 0 && counts.ok == 0;
  EXPECT_EQ(result.status == record::Status::failed, nothing_worked) << result.reason;
  for (const auto& stage : result.stages) EXPECT_EQ(record::imbalance(stage.total().counts), "");
  return result;
}

record::Counts counts_of(const record::RunResult& result) {
  const auto window = result.window();
  return window ? window->total().counts : record::Counts{};
}

std::int64_t of(const record::Counts& counts, record::TransportError error) {
  return counts.transport[static_cast<std::size_t>(error)];
}

}  // namespace heddle::testing
