// From a URL to the addresses that can be used for it.
#pragma once

#include "loadgen/engine/endpoint.hpp"
#include "loadgen/plan/plan.hpp"

#include <functional>
#include <string>
#include <vector>

namespace heddle::engine {

// Every distinct answer for the URL, at least one.
using Resolver = std::function<std::vector<Address>(const plan::Url&)>;

// All answers of the system's resolver, IPv4 before IPv6 (with one connection only the first is used), each
// family in the resolver's order; or the unix socket. Throws std::runtime_error that names the host, or
// std::invalid_argument for a socket path that is too long. Blocks.
[[nodiscard]] std::vector<Address> resolve_all(const plan::Url& url);

// An IPv4 or IPv6 literal without a port. Throws std::invalid_argument.
[[nodiscard]] Address source_address(const std::string& text);

// Connects to all of them at once and closes again. Per address: 0, or the errno of the attempt; ETIMEDOUT
// without an answer within `limit`. Blocks for `limit` at most.
[[nodiscard]] std::vector<int> try_connect(const std::vector<Address>& addresses, plan::Nanos limit);

// The answers of `name` with error 0, one warning (name, address, why) for each other one; all of them and no
// warning when none has error 0, since the server may come up later.
[[nodiscard]] std::vector<Address> those_that_answer(const std::string& name, std::vector<Address> answers,
                                                     const std::vector<int>& errors,
                                                     std::vector<std::string>& warnings);

}  // namespace heddle::engine
