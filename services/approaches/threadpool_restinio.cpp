// threadpool-restinio: RESTinio's I/O threads hand each request to a pool of threads that block.
#include "services/approaches/table.hpp"
#include "services/models/blocking_style.hpp"
#include "services/upstream/thread_client.hpp"
#include "services/waiting/task_scope.hpp"
#include "services/waiting/thread_pool.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/post.hpp>

namespace heddle::approaches {

namespace {

struct ThreadRuntime {
  upstream::ThreadClient& client;

  void sleep_for(std::chrono::milliseconds duration) const {
    if (duration.count() > 0) waiting::block_for(duration);
  }
  [[nodiscard]] upstream::Reply http_get(const std::string& target) const { return client.get(target); }
};

class ThreadpoolRestinio final : public Service {
 public:
  explicit ThreadpoolRestinio(Environment& environment)
      : Service(environment),
        client_(upstream::make_thread_client(environment.client, environment.client_counters)),
        pool_({.threads = environment.pool_threads, .cpus = environment.cpus},
              [this](servers::Exchange& exchange) { serve(exchange); }) {
    metrics::Gauges gauges = environment.registry.gauges();
    gauges.pool_threads = [this] { return pool_.threads(); };
    gauges.pool_in_use = [this] { return pool_.in_use(); };
    gauges.pool_waiting = [this] { return pool_.waiting(); };
    environment.registry.set_gauges(std::move(gauges));
  }

 private:
  void dispatch(std::size_t io_thread, servers::Exchange&& exchange) override {
    if (pool_.submit(std::move(exchange))) return;
    boost::asio::post(io_threads()[io_thread].context(), [exchange = std::move(exchange)]() mutable {
      exchange.respond(api::problem(503, "every pool thread is busy and the queue for them is full"));
    });
  }

  void serve(servers::Exchange& exchange) {
    const waiting::TaskScope task(exchange.counters(), metrics::TaskKind::thread);
    ThreadRuntime runtime{*client_};
    exchange.respond(models::serve_blocking(runtime, exchange.request(), environment().application));
  }

  void end_workers() override { pool_.stop(); }

  std::unique_ptr<upstream::ThreadClient> client_;
  waiting::ThreadPool<servers::Exchange> pool_;
};

}  // namespace

std::unique_ptr<Service> make_threadpool_restinio(Environment& environment) {
  return std::make_unique<ThreadpoolRestinio>(environment);
}

}  // namespace heddle::approaches
