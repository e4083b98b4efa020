// Which addresses of this host connections come from.
#pragma once

#include "loadgen/engine/endpoint.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::engine {

// The plan's list. Throws std::invalid_argument for what is no IPv4 or IPv6 literal, and for one that is
// there twice.
[[nodiscard]] std::vector<Address> listed_sources(const std::vector<std::string>& texts);

// `count` addresses from 127.0.0.2 on, other than the targets'.
[[nodiscard]] std::vector<Address> loopback_sources(std::size_t count, const std::vector<Address>& targets);

// Numbers of the sources that connections to `target` may have: those of its family; none for a unix socket.
[[nodiscard]] std::vector<std::uint32_t> sources_for(const Address& target,
                                                     const std::vector<Address>& sources);

// The answers of `name` that a listed source can reach (unix sockets need none), a warning for each other
// one; all of them when the list is empty. Throws std::invalid_argument, with target and sources, when none
// is left.
[[nodiscard]] std::vector<Address> those_with_a_source(const std::string& name, std::vector<Address> answers,
                                                       const std::vector<Address>& sources,
                                                       std::vector<std::string>& warnings);

}  // namespace heddle::engine
