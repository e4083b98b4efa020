// The upstream client of the thread pool: blocks the calling thread.
#pragma once

#include "services/upstream/blocking_client.hpp"
#include "services/waiting/thread_stream.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>

namespace heddle::upstream {

struct ThreadSync {
  using Mutex = std::mutex;
  using ConditionVariable = std::condition_variable;
};

using ThreadClient = BlockingClient<waiting::ThreadStream, ThreadSync>;

// One client for all pool threads. `options` must outlive the client.
[[nodiscard]] inline std::unique_ptr<ThreadClient> make_thread_client(const ClientOptions& options,
                                                                      ClientCounters& counters) {
  return std::make_unique<ThreadClient>(
      options, counters, [&options] { return std::make_unique<waiting::ThreadStream>(options.socket); });
}

}  // namespace heddle::upstream
