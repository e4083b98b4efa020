// The upstream client of fibers: suspends the calling fiber.
#pragma once

#include "services/upstream/blocking_client.hpp"
#include "services/waiting/fiber_stream.hpp"

#include <memory>

#include <boost/fiber/condition_variable.hpp>
#include <boost/fiber/mutex.hpp>

namespace heddle::upstream {

struct FiberSync {
  using Mutex = boost::fibers::mutex;
  using ConditionVariable = boost::fibers::condition_variable;
};

using FiberClient = BlockingClient<waiting::FiberStream, FiberSync>;

// One client per I/O thread. `options` must outlive the client.
[[nodiscard]] inline std::unique_ptr<FiberClient> make_fiber_client(waiting::LoopExecutor executor,
                                                                    const ClientOptions& options,
                                                                    ClientCounters& counters) {
  return std::make_unique<FiberClient>(options, counters, [executor, &options] {
    return std::make_unique<waiting::FiberStream>(executor, options.socket);
  });
}

}  // namespace heddle::upstream
