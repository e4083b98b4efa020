#include "services/approaches/settings.hpp"

#include "host-tuning/congestion.hpp"
#include "host-tuning/cpus.hpp"
#include "services/approaches/table.hpp"
#include "services/approaches/version.hpp"
#include "services/metrics/registry.hpp"
#include "services/servers/server.hpp"
#include "services/upstream/reply.hpp"

#include <algorithm>
#include <stdexcept>

#include <boost/asio/ip/address.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/version.hpp>
#include <fmt/core.h>

namespace heddle::approaches {

namespace {

void settle_cpus(Options& options) {
  const std::vector<int> available = host::available_cpus();
  if (options.cpus.empty()) options.cpus = available;
  if (!std::includes(available.begin(), available.end(), options.cpus.begin(), options.cpus.end())) {
    throw std::invalid_argument(fmt::format("--cpus: {} asked for, this process may use {}",
                                            host::format_cpu_list(options.cpus),
                                            host::format_cpu_list(available)));
  }
  if (options.threads == 0) options.threads = options.cpus.size();
}

void settle_congestion_control(Options& options) {
  const std::vector<std::string> available = host::available_congestion_controls();
  std::string& wanted = options.congestion_control;
  if (wanted.empty()) wanted = host::may_use_congestion_control("cubic") ? "cubic" : available.front();
  if (!host::may_use_congestion_control(wanted)) {
    std::string known;
    for (const auto& name : available) known += (known.empty() ? "" : ", ") + name;
    throw std::invalid_argument(
        fmt::format("--congestion-control: this process may not use '{}'; the kernel has {}", wanted, known));
  }
}

// The address must be known to be one before a URL and a listener are made of it.
bool is_v6(const std::string& address) {
  boost::system::error_code error;
  const auto parsed = boost::asio::ip::make_address(address, error);
  if (error) throw std::invalid_argument(fmt::format("--address: '{}' is no IP address", address));
  return parsed.is_v6();
}

}  // namespace

DescriptorBudget share_descriptors(std::size_t limit, std::size_t asked_accepted, std::size_t asked_client) {
  const std::size_t usable = limit > kReservedDescriptors ? limit - kReservedDescriptors : 0;
  DescriptorBudget budget;
  budget.client = asked_client != 0 ? asked_client : std::min(kMaxClientConnections, usable / 4);
  budget.accepted = asked_accepted != 0 ? asked_accepted : usable - std::min(usable, budget.client);
  if (budget.accepted + budget.client > usable || budget.accepted == 0 || budget.client == 0) {
    throw std::invalid_argument(fmt::format(
        "{} accepted connections and {} upstream connections need {} descriptors, the limit is {}: lower "
        "--max-connections or --client-connections, or raise the hard limit (ulimit -Hn)",
        budget.accepted, budget.client, budget.accepted + budget.client + kReservedDescriptors, limit));
  }
  return budget;
}

Settings settle(Options options) {
  Settings settings;
  settings.descriptors = host::raise_descriptor_limit().after;
  const DescriptorBudget budget =
      share_descriptors(settings.descriptors.soft, options.max_connections, options.client_connections);
  options.max_connections = budget.accepted;
  options.client_connections = budget.client;
  settle_cpus(options);
  settle_congestion_control(options);
  const bool v6 = is_v6(options.address);
  if (options.upstream_url.empty()) {
    const std::string host = v6 ? "[" + options.address + "]" : options.address;
    options.upstream_url = fmt::format("http://{}:{}", host, options.port);
  }
  settings.options = std::move(options);
  return settings;
}

std::string to_json(const Settings& settings) {
  const Options& options = settings.options;
  const servers::ServerOptions server;  // what has no option keeps these defaults
  const upstream::ClientOptions client;
  boost::json::array cpus(options.cpus.begin(), options.cpus.end());
  const boost::json::object config{
      {"approach", options.approach},
      {"taskKind", metrics::kTaskKindNames[static_cast<std::size_t>(find_approach(options.approach).kind)]},
      {"version", version()},
      {"address", options.address},
      {"port", options.port},
      {"threads", options.threads},
      {"cpus", std::move(cpus)},
      {"poolThreads", options.pool_threads},
      {"fiberStackKib", options.fiber_stack_kib},
      {"repository", options.repository},
      {"cache", options.cache},
      {"readOnly", options.read_only},
      {"upstreamUrl", options.upstream_url},
      {"congestionControl", options.congestion_control},
      {"maxConnections", options.max_connections},
      {"clientConnections", options.client_connections},
      {"clientPending", client.pending},
      {"clientPendingTimeoutMillis", client.pending_timeout.count()},
      {"clientConnectTimeoutMillis", client.socket.connect_timeout.count()},
      {"clientResponseTimeoutMillis", client.socket.response_timeout.count()},
      {"metricsCsv",
       options.metrics_csv.empty() ? boost::json::value(nullptr) : boost::json::value(options.metrics_csv)},
      {"descriptorLimitSoft", settings.descriptors.soft},
      {"descriptorLimitHard", settings.descriptors.hard},
      {"listenBacklog", server.backlog},
      {"tcpNoDelay", true},
      {"timeoutSeconds", server.timeout.count()},
      {"timeoutCheckSeconds", server.timer_period.count()},
      {"readBufferBytes", server.read_buffer_bytes},
      {"maxTargetBytes", server.max_target_bytes},
      {"maxFieldBytes", server.max_field_bytes},
      {"maxFields", server.max_fields},
      {"maxBodyBytes", server.max_body_bytes},
      {"compiler", compiler()},
      {"boost", BOOST_LIB_VERSION},
  };
  return boost::json::serialize(config);
}

}  // namespace heddle::approaches
