#include "loadgen/engine/descriptor_budget.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>

#include <fmt/format.h>

namespace heddle::engine {
namespace {

// An epoll instance, an eventfd, and a file of /proc that it reads now and then.
constexpr std::int64_t kPerThread = 3;

using plan::DescriptorTables;

bool fits(std::int64_t need, std::uint64_t limit) {
  return static_cast<std::uint64_t>(need) <= limit;
}

// The fewest threads whose own tables hold all connections; 0 = no number does.
std::int64_t threads_that_do(DescriptorNeed need, std::uint64_t limit) {
  for (need.threads = 2; need.threads <= plan::kMaxThreads; ++need.threads) {
    if (fits(table_need(need, 1), limit)) return need.threads;
  }
  return 0;
}

// The most connections that the plan's threads can hold, in the way that holds more.
std::int64_t connections_that_do(DescriptorNeed need, std::uint64_t limit, bool own_tables) {
  const auto connections = need.connections;
  need.connections = 0;
  const auto free = static_cast<std::int64_t>(limit) - table_need(need, 1);
  return std::clamp<std::int64_t>(free * (own_tables ? need.threads : 1), 0, connections);
}

[[noreturn]] void refuse(const DescriptorNeed& need, std::uint64_t limit) {
  const bool own = need.tables != DescriptorTables::shared && need.threads > 1;
  std::string found = fmt::format("{} connections need {} descriptors in one table", need.connections,
                                  table_need(need, need.threads));
  if (own) {
    found +=
        fmt::format(", {} in each of {} threads with a table of its own", table_need(need, 1), need.threads);
  }
  std::string remedies;
  if (const auto threads = threads_that_do(need, limit); threads > 0) {
    remedies = fmt::format("{} threads{}, ", threads,
                           need.tables == DescriptorTables::shared ? " with descriptorTables auto" : "");
  }
  throw NotMeasurable(
      fmt::format("{}; the limit of a table is {} (ulimit -Hn); what helps: {}a higher limit, at most {} "
                  "connections",
                  found, limit, remedies, connections_that_do(need, limit, own)));
}

}  // namespace

std::int64_t table_need(const DescriptorNeed& need, std::int64_t threads_in_it) {
  const auto connections = threads_in_it >= need.threads
                               ? need.connections
                               : (need.connections + need.threads - 1) / need.threads * threads_in_it;
  return connections + kPerThread * need.threads + need.others;
}

DescriptorDecision decide_descriptors(const DescriptorNeed& need, std::uint64_t limit) {
  const auto shared = table_need(need, need.threads);
  const auto own = table_need(need, 1);
  const bool may_own = need.tables != DescriptorTables::shared;
  if (need.tables != DescriptorTables::per_thread && fits(shared, limit)) return {false, shared};
  if (may_own && fits(own, limit)) return {true, own};
  refuse(need, limit);
}

std::int64_t count_open_descriptors() {
  std::error_code error;
  const std::filesystem::directory_iterator entries{"/proc/self/fd", error};
  if (error) return 3;
  return std::distance(begin(entries), end(entries));
}

}  // namespace heddle::engine
