// How many descriptors this process may open. The service and the load generator share it.
#pragma once

#include <cstdint>

namespace heddle::host {

struct DescriptorLimit {
  std::uint64_t soft = 0;  // what the kernel enforces now
  std::uint64_t hard = 0;  // up to where a process without privileges may raise it
  friend bool operator==(const DescriptorLimit&, const DescriptorLimit&) = default;
};

struct RaisedLimit {
  DescriptorLimit before;
  DescriptorLimit after;
};

// RLIMIT_NOFILE. Throws std::system_error. Does not block.
[[nodiscard]] DescriptorLimit descriptor_limit();

// Raises the soft limit to the hard one, never above it. Throws std::system_error with both values in its
// message. Call it before threads split their descriptor tables. Does not block.
RaisedLimit raise_descriptor_limit();

}  // namespace heddle::host
