// The request logic as callbacks on an event loop: nothing blocks, nothing suspends.
#pragma once

#include "services/models/application.hpp"
#include "services/upstream/callback_client.hpp"
#include "services/waiting/async_socket.hpp"

#include <functional>

namespace heddle::models {

struct CallbackRuntime {
  waiting::LoopExecutor executor;
  upstream::CallbackClient& client;
};

// `done` is called exactly once, from the event loop or before this returns. `request` must stay valid
// until then; so must `runtime` and `application`. Never throws.
void serve_callbacks(CallbackRuntime& runtime, const api::Request& request, const Application& application,
                     std::function<void(api::Response)> done);

}  // namespace heddle::models
