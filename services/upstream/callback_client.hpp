// The upstream client of the reactor: callbacks on the I/O thread's event loop.
#pragma once

#include "services/upstream/async_pool.hpp"
#include "services/upstream/client_counters.hpp"
#include "services/upstream/reply.hpp"

#include <functional>
#include <string>

namespace heddle::upstream {

// One per I/O thread. Neither blocks nor suspends.
class CallbackClient {
 public:
  using Done = std::function<void(Reply)>;

  // `options` must outlive the client.
  CallbackClient(waiting::LoopExecutor executor, const ClientOptions& options, ClientCounters& counters)
      : executor_(executor), options_(options), counters_(counters), pool_(executor, options, counters) {}

  // GET on a kept-alive connection; `done` is called exactly once, from the event loop, or at once when the
  // pool refuses or the first system call fails. Stale connections are replaced as in BlockingClient.
  void get(const std::string& target, Done done);

 private:
  class Operation;

  waiting::LoopExecutor executor_;
  const ClientOptions& options_;
  ClientCounters& counters_;
  AsyncPool pool_;
};

}  // namespace heddle::upstream
