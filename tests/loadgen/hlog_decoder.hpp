// Reads back what loadgen/report/hlog.hpp encodes. The numbers of HdrHistogram's format stand here a second
// time, so that an error in the encoder's does not cancel out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::testing {

// Everything here throws std::invalid_argument for damaged input.

// Reads one ZigZag LEB128 number and moves `at` behind it.
[[nodiscard]] std::int64_t read_zigzag(std::string_view bytes, std::size_t& at);

// The counts of all buckets, the empty ones at the end too; another version or layout is refused.
[[nodiscard]] std::vector<std::int64_t> decode(std::string_view bytes);
[[nodiscard]] std::vector<std::int64_t> decode_compressed(std::string_view base64);

[[nodiscard]] std::string from_base64(std::string_view text);

}  // namespace heddle::testing
