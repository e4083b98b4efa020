// Small pieces that all reports share.
#pragma once

#include "loadgen/record/result.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <boost/json.hpp>

namespace heddle::report {

// us -> ms as a JSON number: exact to the microsecond.
[[nodiscard]] boost::json::value millis(std::int64_t micros);

// A percentile as load.json holds it: a number of ms, a text ">=MS" when it is a lower limit, null without
// enough samples.
[[nodiscard]] boost::json::value quantile_millis(const std::optional<record::Quantile>& quantile);

// The same for people, in ms with `decimals`: "1.234", ">=60000.000", and "-" without enough samples.
[[nodiscard]] std::string quantile_text(const std::optional<record::Quantile>& quantile, int decimals = 3);

// 2026-01-31T12:34:56.789Z
[[nodiscard]] std::string utc(std::int64_t epoch_millis);

// JSON text, indented by two for people and diff, or in one line. Unlike Boost.JSON's serialize() it writes
// 0.193 rather than 1.93E-1, and null for what is no finite number.
[[nodiscard]] std::string pretty(const boost::json::value& value);
[[nodiscard]] std::string compact(const boost::json::value& value);

// Writes `content` beside `file` and renames it into place, so that a reader sees all of it or nothing.
// Throws std::runtime_error that names the file. Blocks.
void write_atomically(const std::filesystem::path& file, std::string_view content);

// Words for people. What cannot be written there is lost: a full disk behind a log must not end a run.
void to_stderr(std::string_view text) noexcept;

}  // namespace heddle::report
