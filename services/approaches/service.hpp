// A running approach: I/O threads, a server on each, and a model that takes what they dispatch.
#pragma once

#include "services/metrics/registry.hpp"
#include "services/models/application.hpp"
#include "services/servers/server.hpp"
#include "services/upstream/client_counters.hpp"
#include "services/upstream/reply.hpp"
#include "services/waiting/io_threads.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace heddle::approaches {

// What main sets up once; outlives the service.
struct Environment {
  models::Application application;
  metrics::Registry& registry;
  upstream::ClientCounters& client_counters;
  upstream::ClientOptions client;  // limits of the whole process
  servers::ServerOptions server;   // limits of one I/O thread
  std::vector<int> cpus;
  std::size_t io_threads = 1;
  std::size_t pool_threads = 5000;
  std::size_t fiber_stack_kib = 64;
};

class Service {
 public:
  explicit Service(Environment& environment);
  virtual ~Service() = default;
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // Starts the I/O threads and opens every listener. Throws std::runtime_error when one can not listen;
  // nothing runs then.
  void start();

  // Stops accepting, lets requests in flight finish for at most `grace`, ends the threads. Returns the
  // number of requests that were still in flight; when not 0 the threads still run and the process must
  // exit without destroying this object. Blocks.
  [[nodiscard]] std::size_t stop(std::chrono::milliseconds grace);

 protected:
  // On the I/O thread, inside the server's handler: hand the exchange on and return.
  virtual void dispatch(std::size_t io_thread, servers::Exchange&& exchange) = 0;
  // On the I/O thread, before its listener opens.
  virtual void prepare(waiting::IoThread&) {}
  // On the I/O thread: runs the event loop until end_loop().
  virtual void run_loop(waiting::IoThread& loop) { loop.run(); }
  virtual void end_loop(waiting::IoThread& loop) { loop.stop(); }
  // After the last request, before the loops end.
  virtual void end_workers() {}

  // The share of one I/O thread in the client's limits.
  [[nodiscard]] upstream::ClientOptions client_share() const;

  [[nodiscard]] Environment& environment() { return environment_; }
  [[nodiscard]] waiting::IoThreads& io_threads() { return io_threads_; }

 private:
  void route(waiting::IoThread& loop, servers::Exchange&& exchange);
  void end_all_loops();

  Environment& environment_;
  waiting::IoThreads io_threads_;
  std::vector<std::unique_ptr<servers::Server>> servers_;
};

}  // namespace heddle::approaches
