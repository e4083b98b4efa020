// fibers-restinio: one fiber per request on RESTinio's I/O threads; the blocking style, suspended.
#include "services/approaches/table.hpp"
#include "services/models/blocking_style.hpp"
#include "services/upstream/fiber_client.hpp"
#include "services/waiting/fiber_scheduler.hpp"
#include "services/waiting/fiber_waiting.hpp"
#include "services/waiting/stack_arena.hpp"
#include "services/waiting/task_scope.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/future/promise.hpp>
#include <boost/fiber/operations.hpp>

namespace heddle::approaches {

namespace {

bool in_worker_fiber() {
  return boost::fibers::context::active()->is_context(boost::fibers::type::worker_context);
}

struct FiberRuntime {
  upstream::FiberClient& client;

  void sleep_for(std::chrono::milliseconds duration) const {
    if (duration.count() > 0) waiting::suspend_for(duration);
  }
  [[nodiscard]] upstream::Reply http_get(const std::string& target) const { return client.get(target); }
};

class FibersRestinio final : public Service {
 public:
  explicit FibersRestinio(Environment& environment)
      : Service(environment), client_options_(client_share()), threads_(environment.io_threads) {
    for (auto& thread : threads_) {
      thread.stacks = std::make_unique<waiting::StackArena>(environment.fiber_stack_kib * 1024,
                                                            waiting::StackArena::Guard::none);
    }
  }

 private:
  // What belongs to one I/O thread. The arena outlives the thread, whose scheduler frees stacks at its end.
  struct PerThread {
    std::unique_ptr<waiting::StackArena> stacks;
    std::unique_ptr<upstream::FiberClient> client;
    boost::fibers::promise<void> stop;
  };

  void prepare(waiting::IoThread& loop) override {
    boost::fibers::use_scheduling_algorithm<waiting::FiberScheduler>(loop.context());
    waiting::in_fiber = in_worker_fiber;
    threads_[loop.index()].client = upstream::make_fiber_client(
        loop.context().get_executor(), client_options_, environment().client_counters);
  }

  // The thread's main fiber waits; its scheduler runs the event loop meanwhile.
  void run_loop(waiting::IoThread& loop) override { threads_[loop.index()].stop.get_future().wait(); }

  void end_loop(waiting::IoThread& loop) override {
    boost::asio::post(loop.context(), [&thread = threads_[loop.index()]] { thread.stop.set_value(); });
  }

  void dispatch(std::size_t io_thread, servers::Exchange&& exchange) override {
    PerThread& thread = threads_[io_thread];
    boost::fibers::fiber(
        boost::fibers::launch::post, std::allocator_arg, waiting::ArenaStacks(*thread.stacks),
        [this, &thread, exchange = std::move(exchange)]() mutable {
          const waiting::TaskScope task(exchange.counters(), metrics::TaskKind::fiber);
          FiberRuntime runtime{*thread.client};
          exchange.respond(models::serve_blocking(runtime, exchange.request(), environment().application));
        })
        .detach();
  }

  upstream::ClientOptions client_options_;
  std::vector<PerThread> threads_;
};

}  // namespace

std::unique_ptr<Service> make_fibers_restinio(Environment& environment) {
  return std::make_unique<FibersRestinio>(environment);
}

}  // namespace heddle::approaches
