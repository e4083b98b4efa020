// The upstream client of coroutines: suspends the awaiting coroutine.
#pragma once

#include "services/upstream/async_pool.hpp"
#include "services/upstream/client_counters.hpp"
#include "services/upstream/reply.hpp"
#include "services/waiting/coroutine_waiting.hpp"

#include <string>

namespace heddle::upstream {

// One per I/O thread.
class CoroutineClient {
 public:
  // `options` must outlive the client.
  CoroutineClient(waiting::LoopExecutor executor, const ClientOptions& options, ClientCounters& counters)
      : options_(options), counters_(counters), pool_(executor, options, counters) {}

  // GET on a kept-alive connection. Suspends; never throws on I/O. Stale connections are replaced as in
  // BlockingClient.
  [[nodiscard]] waiting::Task<Reply> get(std::string target);

 private:
  [[nodiscard]] waiting::Task<AsyncPool::Acquired> acquire();

  const ClientOptions& options_;
  ClientCounters& counters_;
  AsyncPool pool_;
};

}  // namespace heddle::upstream
