#include "services/approaches/version.hpp"

namespace heddle::approaches {

std::string_view compiler() {
  return HEDDLE_COMPILER;
}

}  // namespace heddle::approaches
