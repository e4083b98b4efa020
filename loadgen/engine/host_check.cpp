#include "loadgen/engine/host_check.hpp"

#include "host-tuning/cpus.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <netinet/tcp.h>
#include <stdexcept>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

namespace heddle::engine {
namespace {

class Socket {
 public:
  explicit Socket(int family) : fd_{socket(family, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP)} {
    if (fd_ < 0)
      throw std::runtime_error(
          fmt::format("cannot open a socket: {}", std::generic_category().message(errno)));
  }
  ~Socket() { close(fd_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

std::string congestion_controls() {
  std::ifstream in{"/proc/sys/net/ipv4/tcp_available_congestion_control"};
  std::string names;
  std::getline(in, names);
  return names.empty() ? "those of this kernel" : names;
}

void check_congestion_control(const std::string& name) {
  if (name.empty()) return;
  const Socket probe{AF_INET};
  if (setsockopt(probe.get(), IPPROTO_TCP, TCP_CONGESTION, name.data(),
                 static_cast<socklen_t>(name.size())) == 0) {
    return;
  }
  const int error = errno;
  throw std::invalid_argument(fmt::format("congestionControl: found '{}' ({}), accepted: {}", name,
                                          std::generic_category().message(error), congestion_controls()));
}

void check_source(const Address& source) {
  const Socket probe{source.family()};
  if (bind(probe.get(), source.get(), source.size) == 0) return;
  throw std::invalid_argument(
      fmt::format("sourceAddresses: found '{}' ({}), accepted: addresses of this host", source.text,
                  std::generic_category().message(errno)));
}

}  // namespace

void check_cpus(const plan::Plan& plan) {
  const auto available = host::available_cpus();
  for (const int cpu : plan.cpus) {
    if (std::find(available.begin(), available.end(), cpu) != available.end()) continue;
    throw std::invalid_argument(
        fmt::format("cpus: found {}, available: {}", cpu, host::format_cpu_list(available)));
  }
}

void check_sockets(const Setup& setup) {
  check_congestion_control(setup.plan.congestion_control);
  for (const auto& source : setup.sources) check_source(source);
}

Setup checked_setup(const plan::Plan& plan, const std::vector<std::string>& bodies) {
  check_cpus(plan);
  auto setup = make_setup(plan, bodies);
  check_sockets(setup);
  ensure_descriptors(setup);
  ensure_ports(setup);
  return setup;
}

}  // namespace heddle::engine
