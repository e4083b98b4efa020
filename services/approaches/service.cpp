#include "services/approaches/service.hpp"

#include <algorithm>
#include <exception>
#include <future>
#include <optional>
#include <thread>
#include <utility>

#include <boost/asio/post.hpp>

namespace heddle::approaches {

namespace {

// /health and /metrics: the same for every approach, outside the models.
std::optional<api::Response> administrative(const api::Request& request, const Environment& environment) {
  if (api::is_get(request, api::kHealthPath)) return api::health_response(environment.application.approach);
  if (!api::is_get(request, api::kMetricsPath)) return std::nullopt;
  return api::Response{200, api::kPrometheusText, environment.registry.prometheus(), {}};
}

}  // namespace

Service::Service(Environment& environment) : environment_(environment), io_threads_(environment.io_threads) {
  for (std::size_t index = 0; index < io_threads_.size(); ++index) {
    waiting::IoThread& loop = io_threads_[index];
    servers_.push_back(servers::make_restinio_server(
        loop, environment.server, environment.registry.shard(index),
        [this, &loop](servers::Exchange&& exchange) { route(loop, std::move(exchange)); }));
  }
}

void Service::route(waiting::IoThread& loop, servers::Exchange&& exchange) {
  if (auto response = administrative(exchange.request(), environment_)) {
    boost::asio::post(loop.context(),
                      [exchange = std::move(exchange), response = std::move(*response)]() mutable {
                        exchange.respond(std::move(response));
                      });
    return;
  }
  dispatch(loop.index(), std::move(exchange));
}

void Service::start() {
  servers::require_free_port(environment_.server.address, environment_.server.port);
  std::vector<std::promise<void>> opened(io_threads_.size());
  io_threads_.start(
      [this, &opened](waiting::IoThread& loop) {
        try {
          prepare(loop);
          servers_[loop.index()]->open();
          opened[loop.index()].set_value();
        } catch (...) {
          opened[loop.index()].set_exception(std::current_exception());
        }
        run_loop(loop);
      },
      environment_.cpus);
  std::exception_ptr failure;
  for (auto& each : opened) {
    try {
      each.get_future().get();
    } catch (...) {
      failure = std::current_exception();
    }
  }
  if (failure) {
    end_workers();
    end_all_loops();
    std::rethrow_exception(failure);
  }
}

std::size_t Service::stop(std::chrono::milliseconds grace) {
  for (std::size_t index = 0; index < io_threads_.size(); ++index) {
    boost::asio::post(io_threads_[index].context(), [&server = *servers_[index]] { server.close(); });
  }
  io_threads_.drain();
  const auto deadline = std::chrono::steady_clock::now() + grace;
  while (environment_.registry.tasks_in_flight() > 0) {
    if (std::chrono::steady_clock::now() >= deadline) return environment_.registry.tasks_in_flight();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  end_workers();        // a job that a pool thread took but had not begun was not in flight yet
  io_threads_.drain();  // the last answers are on their way
  end_all_loops();
  return 0;
}

void Service::end_all_loops() {
  for (std::size_t index = 0; index < io_threads_.size(); ++index) end_loop(io_threads_[index]);
  io_threads_.join();
}

upstream::ClientOptions Service::client_share() const {
  upstream::ClientOptions share = environment_.client;
  share.connections = std::max<std::size_t>(1, share.connections / environment_.io_threads);
  share.pending = std::max<std::size_t>(1, share.pending / environment_.io_threads);
  return share;
}

}  // namespace heddle::approaches
