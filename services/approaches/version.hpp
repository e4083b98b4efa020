// What this binary was built from.
#pragma once

#include <string_view>

namespace heddle::approaches {

[[nodiscard]] std::string_view version();   // "0.1.0+g1a2b3c4", "-dirty" when the tree had changes
[[nodiscard]] std::string_view compiler();  // name, version and flags

}  // namespace heddle::approaches
