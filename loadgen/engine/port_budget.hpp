// How many ports a run needs and how many this host has. Pure, but for the two functions that read /proc.
#pragma once

#include "loadgen/engine/not_measurable.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::engine {

// A port that this side closed is not used again for as long (TCP_TIMEWAIT_LEN in the kernel, fixed).
inline constexpr double kTimeWaitSeconds = 60;

// net.ipv4.ip_local_port_range, and how many of it ip_local_reserved_ports takes away. The kernel uses both
// for IPv6 too. The defaults are the kernel's.
struct PortRange {
  std::int64_t low = 32'768;
  std::int64_t high = 60'999;
  std::int64_t reserved = 0;

  [[nodiscard]] std::int64_t usable() const { return high - low + 1 - reserved; }
};

// Blocks for a moment. What cannot be read keeps its default.
[[nodiscard]] PortRange read_port_range();

// net.core.somaxconn, the longest backlog of a server on this host; 0 when it cannot be read. Blocks for a
// moment.
[[nodiscard]] std::int64_t read_somaxconn();

// How many ports of low..high a list such as "8080,9000-9010" names. What is no list counts nothing.
[[nodiscard]] std::int64_t count_reserved(std::string_view list, std::int64_t low, std::int64_t high);

// What one target (an address with a port) is asked for.
struct TargetLoad {
  std::string target;
  std::int64_t connections = 0;     // to it
  std::int64_t sources = 1;         // addresses they come from; 1 when the kernel chooses
  std::int64_t per_source = 0;      // the most that one source has: a port each
  std::int64_t opened_at_once = 0;  // in the connect burst; 0 = no burst
  double new_per_second = 0;        // connections that replace others; 0 = long-lived, or not known before
  bool local = false;               // on this host
};

// Source addresses that `load` needs when each has `ports` ports to one target: a quarter of them is used.
// connect() tries one parity of the ports first and one after the other, so it gets slow as half of them are
// taken (13 s of system time for 15,000 connections from each source, measured). Connections of short life
// leave ports in TIME_WAIT, so these take at least 32; 1,024 at most.
[[nodiscard]] std::int64_t sources_needed(const TargetLoad& load, std::int64_t ports, bool short_lived);

// Throws NotMeasurable, with all numbers and what helps, when a source has too few ports for its connections.
// Returns warnings: where TIME_WAIT may use up the ports, and where nearly all of them are in use.
[[nodiscard]] std::vector<std::string> check_ports(const std::vector<TargetLoad>& loads,
                                                   const PortRange& range);

// One warning when a burst may overflow the backlog of a server on this host. Empty list otherwise.
[[nodiscard]] std::vector<std::string> check_backlog(const std::vector<TargetLoad>& loads,
                                                     std::int64_t somaxconn);

}  // namespace heddle::engine
