#include "host-tuning/limits.hpp"

#include <cerrno>
#include <sys/resource.h>
#include <system_error>

#include <fmt/format.h>

namespace heddle::host {

DescriptorLimit descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot read the limit of open descriptors");
  }
  return {.soft = limit.rlim_cur, .hard = limit.rlim_max};
}

RaisedLimit raise_descriptor_limit() {
  const DescriptorLimit before = descriptor_limit();
  if (before.soft >= before.hard) return {.before = before, .after = before};
  const rlimit wanted{.rlim_cur = before.hard, .rlim_max = before.hard};
  if (setrlimit(RLIMIT_NOFILE, &wanted) != 0) {
    const int reason = errno;
    throw std::system_error(
        reason, std::generic_category(),
        fmt::format("cannot raise the limit of open descriptors from {} to {}", before.soft, before.hard));
  }
  return {.before = before, .after = descriptor_limit()};
}

}  // namespace heddle::host
