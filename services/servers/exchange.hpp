// One request on its way through a server: what a model gets, and how it answers.
#pragma once

#include "services/api/message.hpp"
#include "services/metrics/registry.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace heddle::servers {

// Keeps the server's request alive, so that the views in request() stay valid; moved, never shared.
// respond() may be called once, from any thread, and never from inside the server's own handler: answering
// inline breaks RESTinio's pipelining, and was measured 7-15 % apart from a posted answer.
class Exchange {
 public:
  using Respond = void (*)(std::shared_ptr<void>&& handle, api::Response&& response);

  Exchange(api::Request request, std::shared_ptr<void> handle, Respond responder,
           metrics::ShardCounters& counters)
      : request_(request), handle_(std::move(handle)), respond_(responder), counters_(&counters) {}

  [[nodiscard]] const api::Request& request() const { return request_; }
  [[nodiscard]] metrics::ShardCounters& counters() const { return *counters_; }
  void respond(api::Response&& response);  // never throws

 private:
  api::Request request_;
  std::shared_ptr<void> handle_;
  Respond respond_;
  metrics::ShardCounters* counters_;
};

// Takes every request of one I/O thread, on that thread, inside the server's handler: it must only hand the
// exchange on (to a pool, a fiber, a posted callback) and return.
using Dispatch = std::function<void(Exchange&&)>;

}  // namespace heddle::servers
