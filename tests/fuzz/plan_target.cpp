// A plan is refused with PlanError, or it holds what the engine relies on.
#include "loadgen/http/request.hpp"
#include "loadgen/plan/mix.hpp"
#include "loadgen/plan/plan_reader.hpp"
#include "loadgen/plan/schedule.hpp"
#include "tests/fuzz/target.hpp"

#include <algorithm>

namespace heddle::fuzz {
namespace {

void check_stage(const plan::Stage& stage) {
  const auto count = plan::arrival_count(stage);
  require(stage.duration > 0, "a stage takes time");
  require(count >= 0, "no stage has a negative number of requests");
  if (count == 0) return;
  const auto first = plan::arrival_due(stage, 0);
  const auto last = plan::arrival_due(stage, count - 1);
  require(first >= 0 && first <= last && last <= stage.duration, "requests are due within their stage");
}

void check(const plan::Plan& plan) {
  plan::check_plan(plan);  // throws nothing: it was accepted
  require(plan.connections >= 1 && plan.threads >= 1, "somebody sends");
  require(!plan.targets.empty() && !plan.requests.empty(), "there is something to send, and somewhere");
  require(plan.request_timeout >= 0 && plan.connect_timeout >= 0 && plan.grace >= 0,
          "times are not negative");
  require(plan.think.low >= 0 && plan.think.high >= plan.think.low, "thoughts take time");
  for (const auto& stage : plan.stages) check_stage(stage);
  const plan::RequestMix mix{plan.mix, plan.requests, plan.seed};
  require(mix.of_arrival(0, 12'345) < plan.requests.size(), "the mix draws a request that exists");
  for (const auto& request : plan.requests) {
    const auto bytes = http::build_request(request, plan.targets.front(), "", plan.keep_alive);
    const auto end = bytes.find("\r\n\r\n");
    require(end != std::string::npos && end + 4 == bytes.size(), "a request is one head, and only that");
    require(bytes.find('\0') == std::string::npos, "a request holds no zero byte");
    require(std::count(bytes.begin(), bytes.end(), '\n') <=
                6 + static_cast<std::ptrdiff_t>(request.headers.size()),
            "a header is one line");
  }
}

}  // namespace
}  // namespace heddle::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto read = heddle::plan::parse_plan(heddle::fuzz::text_of(data, size), "/plans");
    heddle::fuzz::check(read.plan);
  } catch (const heddle::plan::PlanError& error) {
    heddle::fuzz::require(std::string_view{error.what()}.find('\n') == std::string_view::npos,
                          "a message is one line");
  }
  return 0;
}
