#include "loadgen/engine/port_budget.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>

#include <fmt/format.h>

namespace heddle::engine {
namespace {

constexpr std::int64_t kSourcesForShortLives = 32;
constexpr std::int64_t kMostSources = 1'024;

std::int64_t ports_to_use(std::int64_t ports) {
  return std::max<std::int64_t>(1, ports / 4);
}

std::string sources_text(const TargetLoad& load) {
  return fmt::format("{} source address{}", load.sources, load.sources == 1 ? "" : "es");
}

std::string range_text(const PortRange& range) {
  return fmt::format("{} ports (net.ipv4.ip_local_port_range {} to {}, {} reserved)", range.usable(),
                     range.low, range.high, range.reserved);
}

std::int64_t in_time_wait(const TargetLoad& load) {
  const double ports = load.new_per_second * kTimeWaitSeconds;
  return static_cast<std::int64_t>(std::ceil(std::min(ports, 1e15)));
}

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

bool read_number(std::string_view& text, std::int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc{};
}

}  // namespace

PortRange read_port_range() {
  PortRange range;
  std::ifstream limits{"/proc/sys/net/ipv4/ip_local_port_range"};
  std::int64_t low = 0;
  std::int64_t high = 0;
  if (limits >> low >> high && low > 0 && high >= low) {
    range.low = low;
    range.high = high;
  }
  std::ifstream list{"/proc/sys/net/ipv4/ip_local_reserved_ports"};
  std::string reserved;
  std::getline(list, reserved);
  range.reserved = count_reserved(reserved, range.low, range.high);
  return range;
}

std::int64_t read_somaxconn() {
  std::ifstream in{"/proc/sys/net/core/somaxconn"};
  std::int64_t value = 0;
  in >> value;
  return value;
}

std::int64_t count_reserved(std::string_view list, std::int64_t low, std::int64_t high) {
  std::int64_t count = 0;
  while (!list.empty()) {
    std::int64_t first = 0;
    if (!read_number(list, first)) return count;
    std::int64_t last = first;
    if (list.starts_with('-')) {
      list.remove_prefix(1);
      if (!read_number(list, last)) return count;
    }
    count += std::max<std::int64_t>(0, std::min(last, high) - std::max(first, low) + 1);
    if (list.starts_with(',')) list.remove_prefix(1);
  }
  return count;
}

std::int64_t sources_needed(const TargetLoad& load, std::int64_t ports, bool short_lived) {
  const auto wanted = std::min(load.connections, INT64_MAX / 2) + in_time_wait(load);
  const auto needed = std::max<std::int64_t>(1, divide_up(wanted, ports_to_use(ports)));
  return std::min(kMostSources, short_lived ? std::max(needed, kSourcesForShortLives) : needed);
}

std::vector<std::string> check_ports(const std::vector<TargetLoad>& loads, const PortRange& range) {
  std::vector<std::string> warnings;
  for (const auto& load : loads) {
    const auto ports = range.usable();
    if (load.per_source > ports) {
      throw NotMeasurable(fmt::format(
          "{} connections to {} from {} need {} ports on one address, it has {}; what helps: {} or "
          "more source addresses (sourceAddresses, --source), a wider net.ipv4.ip_local_port_range, fewer "
          "connections",
          load.connections, load.target, sources_text(load), load.per_source, range_text(range),
          divide_up(load.connections, std::max<std::int64_t>(1, ports))));
    }
    const auto closed = divide_up(in_time_wait(load), load.sources);
    if (load.new_per_second > 0 && load.per_source + closed > ports) {
      warnings.push_back(
          fmt::format("{}: up to {:.0f} new connections a second keep {} ports in TIME_WAIT (60 s each), {} "
                      "from {}, each "
                      "with {}: connects may fail with EADDRNOTAVAIL; more source addresses help",
                      load.target, load.new_per_second, in_time_wait(load), closed, sources_text(load),
                      range_text(range)));
    } else if (load.per_source > ports * 9 / 10) {
      warnings.push_back(fmt::format(
          "{}: {} connections of one source address use nearly all of its {}; what others use may "
          "be missing; more source addresses help",
          load.target, load.per_source, range_text(range)));
    }
  }
  return warnings;
}

std::vector<std::string> check_backlog(const std::vector<TargetLoad>& loads, std::int64_t somaxconn) {
  std::vector<std::string> warnings;
  if (somaxconn <= 0) return warnings;
  for (const auto& load : loads) {
    if (!load.local || load.opened_at_once <= somaxconn) continue;
    const auto* effect = load.target.starts_with("unix:") ? "fail with EAGAIN and are tried again"
                                                          : "take 1 s or 3 s longer (the SYN is sent again)";
    warnings.push_back(fmt::format(
        "{}: {} connections at once, net.core.somaxconn is {}: when the server's backlog overflows, connects "
        "{}; a connect ramp or a larger somaxconn avoids it",
        load.target, load.opened_at_once, somaxconn, effect));
    break;  // the others would say the same
  }
  return warnings;
}

}  // namespace heddle::engine
