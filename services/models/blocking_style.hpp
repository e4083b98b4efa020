// The request logic for models that wait where they stand: threads block, fibers suspend. One source for
// both is the point that fibers make.
#pragma once

#include "services/models/application.hpp"

#include <exception>
#include <string>
#include <utility>
#include <variant>

namespace heddle::models {

// Runtime offers, in its own way of waiting:
//   void sleep_for(std::chrono::milliseconds);
//   upstream::Reply http_get(const std::string& target);
template <class Runtime>
api::Response serve_waiting(Runtime& runtime, const api::Request& request, const Application& application) {
  auto parsed = api::parse_call(request, application.approach);
  if (auto* fault = std::get_if<api::Response>(&parsed)) return std::move(*fault);
  auto& call = std::get<api::Call>(parsed);

  if (call.depth > 0) {
    const upstream::Reply reply = runtime.http_get(api::nested_target(call, application.approach));
    if (!reply.ok()) return upstream_problem(reply);
  } else {
    runtime.sleep_for(call.delay);
  }
  return answer(call, application);
}

// May block the thread or suspend the fiber, as Runtime does. Never throws.
template <class Runtime>
api::Response serve_blocking(Runtime& runtime, const api::Request& request, const Application& application) {
  std::string failure;
  try {
    return serve_waiting(runtime, request, application);
  } catch (const std::exception& error) {
    failure = error.what();  // nothing may suspend in a handler: leave it before answering
  }
  return internal_problem(failure);
}

}  // namespace heddle::models
