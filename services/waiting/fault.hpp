// Where an exception goes that nobody expected: told on standard error, and the loop goes on.
#pragma once

#include <string_view>

namespace heddle::waiting {

// One line; at most one a second, so that a fault in a hot path can not fill a disk.
void report_fault(std::string_view where, std::string_view what) noexcept;

}  // namespace heddle::waiting
