// The characters of methods and header names.
#pragma once

#include <string_view>

namespace heddle::plan {

// RFC 9110, 5.6.2: visible ASCII without delimiters.
constexpr bool is_token_char(char c) {
  constexpr std::string_view delimiters = "\"(),/:;<=>?@[\\]{}";
  return c > ' ' && c < 127 && delimiters.find(c) == std::string_view::npos;
}

}  // namespace heddle::plan
