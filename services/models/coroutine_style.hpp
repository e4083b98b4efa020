// The request logic as a C++20 coroutine.
#pragma once

#include "services/models/application.hpp"
#include "services/upstream/coroutine_client.hpp"
#include "services/waiting/coroutine_waiting.hpp"

namespace heddle::models {

struct CoroutineRuntime {
  waiting::LoopExecutor executor;
  upstream::CoroutineClient& client;
};

// Suspends. `request`, `runtime` and `application` must stay valid until it has finished. Never throws.
[[nodiscard]] waiting::Task<api::Response> serve_coroutine(CoroutineRuntime& runtime,
                                                           const api::Request& request,
                                                           const Application& application);

}  // namespace heddle::models
