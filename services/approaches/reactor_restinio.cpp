// reactor-restinio: callbacks on RESTinio's I/O threads; nothing blocks, nothing suspends.
#include "services/approaches/table.hpp"
#include "services/models/callback_style.hpp"
#include "services/waiting/task_scope.hpp"

#include <memory>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>

namespace heddle::approaches {

namespace {

// The exchange and its place in the count, from the posted start to the answer.
struct Callback {
  servers::Exchange exchange;
  waiting::TaskScope task;

  explicit Callback(servers::Exchange&& taken)
      : exchange(std::move(taken)), task(exchange.counters(), metrics::TaskKind::callback) {}
};

class ReactorRestinio final : public Service {
 public:
  explicit ReactorRestinio(Environment& environment) : Service(environment), client_options_(client_share()) {
    for (std::size_t index = 0; index < environment.io_threads; ++index) {
      const auto executor = io_threads()[index].context().get_executor();
      threads_.push_back(std::make_unique<PerThread>(executor, client_options_, environment.client_counters));
    }
  }

 private:
  struct PerThread {
    upstream::CallbackClient client;
    models::CallbackRuntime runtime;

    PerThread(waiting::LoopExecutor executor, const upstream::ClientOptions& options,
              upstream::ClientCounters& counters)
        : client(executor, options, counters), runtime{executor, client} {}
  };

  void dispatch(std::size_t io_thread, servers::Exchange&& exchange) override {
    boost::asio::post(io_threads()[io_thread].context(), [this, &runtime = threads_[io_thread]->runtime,
                                                          exchange = std::move(exchange)]() mutable {
      auto callback = std::make_shared<Callback>(std::move(exchange));
      const api::Request& request = callback->exchange.request();
      models::serve_callbacks(
          runtime, request, environment().application,
          [callback](api::Response response) { callback->exchange.respond(std::move(response)); });
    });
  }

  upstream::ClientOptions client_options_;
  std::vector<std::unique_ptr<PerThread>> threads_;
};

}  // namespace

std::unique_ptr<Service> make_reactor_restinio(Environment& environment) {
  return std::make_unique<ReactorRestinio>(environment);
}

}  // namespace heddle::approaches
