#include "host-tuning/cpus.hpp"
#include "services/approaches/options.hpp"
#include "services/approaches/settings.hpp"
#include "services/approaches/table.hpp"
#include "services/approaches/version.hpp"
#include "services/metrics/csv_sampler.hpp"
#include "services/metrics/registry.hpp"
#include "services/movies/stack.hpp"
#include "services/upstream/client_options.hpp"

#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <signal.h>
#include <stdexcept>
#include <unistd.h>

#include <fmt/core.h>

namespace heddle::approaches {

namespace {

constexpr int kExitUsage = 2;
constexpr std::chrono::seconds kStopGrace{10};

// Only main takes signals: they are blocked in every thread and waited for.
sigset_t block_signals() {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  sigaddset(&stop, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  signal(SIGPIPE, SIG_IGN);  // a client that went away is an error code, not the end of the process
  return stop;
}

void wire_gauges(metrics::Registry& registry, const movies::MovieCache* cache,
                 const upstream::ClientCounters& client) {
  metrics::Gauges gauges;
  if (cache != nullptr) {
    gauges.cache_hits = [cache] { return cache->hits(); };
    gauges.cache_misses = [cache] { return cache->misses(); };
  }
  gauges.client_connections_open = [&client] { return client.connections_open.load(); };
  gauges.client_connects = [&client] { return client.connects.load(); };
  gauges.client_pool_waiting = [&client] { return client.waiting.load(); };
  registry.set_gauges(std::move(gauges));
}

upstream::ClientOptions client_options(const Options& options) {
  upstream::ClientOptions client = upstream::client_options_for(options.upstream_url);
  client.connections = options.client_connections;
  client.socket.congestion_control = options.congestion_control;
  return client;
}

servers::ServerOptions server_options(const Options& options) {
  servers::ServerOptions server;
  server.address = options.address;
  server.port = options.port;
  server.congestion_control = options.congestion_control;
  server.max_connections = std::max<std::size_t>(1, options.max_connections / options.threads);
  return server;
}

// Runs until a signal. The order matters: files and event loops exist before any thread does.
int serve(const Options& options, const Approach& approach) {
  const sigset_t stop_signals = block_signals();
  host::pin_process(options.cpus);
  metrics::Registry registry(options.approach, std::string(version()), approach.kind, options.threads);
  std::optional<metrics::CsvSampler> sampler;
  if (!options.metrics_csv.empty()) sampler.emplace(registry, options.metrics_csv);

  movies::RepositoryStack stack({.cache = options.cache, .read_only = options.read_only});
  upstream::ClientCounters client_counters;
  wire_gauges(registry, stack.cache(), client_counters);
  Environment environment{
      .application = {options.approach, stack.repository()},
      .registry = registry,
      .client_counters = client_counters,
      .client = client_options(options),
      .server = server_options(options),
      .cpus = options.cpus,
      .io_threads = options.threads,
      .pool_threads = options.pool_threads,
      .fiber_stack_kib = options.fiber_stack_kib,
  };
  const std::unique_ptr<Service> service = approach.make(environment);
  service->start();
  if (sampler) sampler->start();
  fmt::print(stderr, "heddle-service: {} listens on {}:{} with {} I/O thread{}\n", options.approach,
             options.address, options.port, options.threads, options.threads == 1 ? "" : "s");

  int received = 0;
  sigwait(&stop_signals, &received);
  const std::size_t unfinished = service->stop(kStopGrace);
  if (sampler) sampler->stop();
  if (unfinished > 0) {
    fmt::print(stderr, "heddle-service: {} requests were still in flight {} s after the signal: dropped\n",
               unfinished, kStopGrace.count());
    std::fflush(nullptr);
    _exit(0);  // their threads and fibers still use everything that an orderly end would destroy
  }
  return 0;
}

int run(int argc, char** argv) {
  const Options asked = parse_options(argc, argv);
  if (asked.help) return print_help(std::cout), 0;
  if (asked.version) return fmt::print("heddle-service {}\n", version()), 0;
  if (asked.list_approaches) {
    for (const Approach& approach : all_approaches()) fmt::print("{}\n", approach.name);
    return 0;
  }
  const Approach& approach = find_approach(asked.approach);
  const Settings settings = settle(asked);
  if (asked.print_config) return fmt::print("{}\n", to_json(settings)), 0;
  return serve(settings.options, approach);
}

}  // namespace

}  // namespace heddle::approaches

int main(int argc, char** argv) {
  try {
    return heddle::approaches::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "heddle-service: error: {}\n", error.what());
    return heddle::approaches::kExitUsage;
  }
}
