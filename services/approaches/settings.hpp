// From what was asked on the command line to what is in force on this host.
#pragma once

#include "host-tuning/limits.hpp"
#include "services/approaches/options.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace heddle::approaches {

// Every value that shapes a measurement, decided.
struct Settings {
  Options options;                    // with the defaults filled in
  host::DescriptorLimit descriptors;  // after raising the soft limit
};

// Raises the descriptor limit and fills in what depends on the host. Throws std::invalid_argument when the
// options ask for more than the host can give, with both numbers.
[[nodiscard]] Settings settle(Options options);

// How a descriptor limit is shared out, so that accept() can not run into it: RESTinio stops accepting for
// ever after one EMFILE. Connections beyond `accepted` wait in the backlog, calls beyond `client` in a queue.
struct DescriptorBudget {
  std::size_t accepted = 0;
  std::size_t client = 0;
};

inline constexpr std::size_t kReservedDescriptors = 128;      // logs, epoll, timers, listeners, libraries
inline constexpr std::size_t kMaxClientConnections = 65'000;  // the ancestor's pool

// A quarter for the client: with self-calls each of its connections is accepted here again.
[[nodiscard]] DescriptorBudget share_descriptors(std::size_t limit, std::size_t asked_accepted,
                                                 std::size_t asked_client);

// One JSON object with every setting in force.
[[nodiscard]] std::string to_json(const Settings& settings);

}  // namespace heddle::approaches
