// Appends JSON to a string. The shape is the caller's business: nothing here checks that brackets match.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::api {

// A string with its quotes. `text` must be UTF-8; only what RFC 8259 section 7 demands is escaped.
void append_string(std::string& out, std::string_view text);

void append_integer(std::string& out, std::int64_t value);

// The shortest text that reads back as `value`, with a fraction or an exponent: 8 becomes 8.0, as in the
// ancestor. `value` must be finite.
void append_double(std::string& out, double value);

}  // namespace heddle::api
