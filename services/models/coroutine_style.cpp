#include "services/models/coroutine_style.hpp"

#include <exception>
#include <string>
#include <utility>
#include <variant>

namespace heddle::models {

waiting::Task<api::Response> serve_coroutine(CoroutineRuntime& runtime, const api::Request& request,
                                             const Application& application) {
  std::string failure;
  try {
    auto parsed = api::parse_call(request, application.approach);
    if (auto* fault = std::get_if<api::Response>(&parsed)) co_return std::move(*fault);
    auto& call = std::get<api::Call>(parsed);

    if (call.depth > 0) {
      const upstream::Reply reply =
          co_await runtime.client.get(api::nested_target(call, application.approach));
      if (!reply.ok()) co_return upstream_problem(reply);
    } else if (call.delay.count() > 0) {
      co_await waiting::delay_for(call.delay);
    }
    co_return answer(call, application);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  co_return internal_problem(failure);
}

}  // namespace heddle::models
