// What the values of options mean. Every function throws UsageError that names option, found value and
// accepted values.
#pragma once

#include "loadgen/plan/plan.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::load {

[[noreturn]] void refuse(std::string_view option, std::string_view found, std::string_view accepted);

[[nodiscard]] std::int64_t parse_integer(const std::string& text, std::string_view option, std::int64_t low,
                                         std::int64_t high);
// nan and inf are no numbers here.
[[nodiscard]] double parse_number(const std::string& text, std::string_view option, double low, double high);

// "5000" is a constant rate, "0..2000" a ramp.
[[nodiscard]] plan::Arrivals parse_rate(const std::string& text, std::string_view option);

// "1s" constant, "1s..3s" uniform, "exp:2s" exponential with that mean, "0" none.
[[nodiscard]] plan::Think parse_think(const std::string& text);

// "10s:500", "1m:0..2000".
struct StageText {
  plan::Nanos duration = 0;
  plan::Arrivals arrivals;
};
[[nodiscard]] StageText parse_stage(const std::string& text);

// "auto" is empty, "off" 0.
[[nodiscard]] std::optional<plan::Nanos> parse_spin(const std::string& text);

// "a,b" -> a, b. No part may be empty.
[[nodiscard]] std::vector<std::string> parse_list(const std::string& text, std::string_view option);

// "Name: value".
[[nodiscard]] std::pair<std::string, std::string> parse_header(const std::string& text);

}  // namespace heddle::load
