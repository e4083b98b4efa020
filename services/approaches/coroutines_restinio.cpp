// coroutines-restinio: one C++20 coroutine per request on RESTinio's I/O threads.
#include "services/approaches/table.hpp"
#include "services/models/coroutine_style.hpp"
#include "services/waiting/task_scope.hpp"

#include <memory>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace heddle::approaches {

namespace {

// A free function, not a lambda: its parameters live in the frame, captures of a lambda would not.
waiting::Task<void> serve(models::CoroutineRuntime& runtime, const models::Application& application,
                          servers::Exchange exchange) {
  co_await waiting::yield_to_loop();
  const waiting::TaskScope task(exchange.counters(), metrics::TaskKind::coroutine);
  exchange.respond(co_await models::serve_coroutine(runtime, exchange.request(), application));
}

class CoroutinesRestinio final : public Service {
 public:
  explicit CoroutinesRestinio(Environment& environment)
      : Service(environment), client_options_(client_share()) {
    for (std::size_t index = 0; index < environment.io_threads; ++index) {
      const auto executor = io_threads()[index].context().get_executor();
      threads_.push_back(std::make_unique<PerThread>(executor, client_options_, environment.client_counters));
    }
  }

 private:
  struct PerThread {
    upstream::CoroutineClient client;
    models::CoroutineRuntime runtime;

    PerThread(waiting::LoopExecutor executor, const upstream::ClientOptions& options,
              upstream::ClientCounters& counters)
        : client(executor, options, counters), runtime{executor, client} {}
  };

  void dispatch(std::size_t io_thread, servers::Exchange&& exchange) override {
    models::CoroutineRuntime& runtime = threads_[io_thread]->runtime;
    boost::asio::co_spawn(runtime.executor, serve(runtime, environment().application, std::move(exchange)),
                          boost::asio::detached);
  }

  upstream::ClientOptions client_options_;
  std::vector<std::unique_ptr<PerThread>> threads_;
};

}  // namespace

std::unique_ptr<Service> make_coroutines_restinio(Environment& environment) {
  return std::make_unique<CoroutinesRestinio>(environment);
}

}  // namespace heddle::approaches
