// The two halves of a request target, and the parameters in its query.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace heddle::api {

struct Target {
  std::string_view path;   // as sent, not decoded
  std::string_view query;  // without the question mark; empty when there is none
};

[[nodiscard]] Target split_target(std::string_view target);

// The parameters that this service knows; all others are ignored. Decoded: %41 is A, + is a space. A
// parameter without a value ("a" as well as "a=") is an empty text.
struct Parameters {
  std::optional<std::string> director_last_name;
  std::optional<std::string> delay_call_depth;
  std::optional<std::string> delay_in_millis;
};

// Reads a query into `parameters`. Returns what is wrong with it, or nothing: not a query by RFC 3986, or a
// known parameter that appears twice.
[[nodiscard]] std::optional<std::string> parse_parameters(std::string_view query, Parameters& parameters);

// Bytes of a client for an error message: in quotes, shortened to 64, and printable ASCII only (others as
// %XX).
[[nodiscard]] std::string quoted(std::string_view bytes);

}  // namespace heddle::api
