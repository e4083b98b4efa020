#include "loadgen/report/text.hpp"

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace heddle::report {
namespace {

namespace json = boost::json;

// A negative depth: all in one line.
void append(std::string& out, const json::value& value, int depth);

void line_break(std::string& out, int depth) {
  if (depth < 0) return;
  out += '\n';
  out.append(static_cast<std::size_t>(2 * depth), ' ');
}

template <class Container, class Each>
void append_list(std::string& out, const Container& items, std::string_view ends, int depth, Each each) {
  const int inner = depth < 0 ? depth : depth + 1;
  out += ends[0];
  bool first = true;
  for (const auto& item : items) {
    if (!first) out += ',';
    first = false;
    line_break(out, inner);
    each(item, inner);
  }
  if (!first) line_break(out, depth);
  out += ends[1];
}

void append(std::string& out, const json::value& value, int depth) {
  if (const auto* object = value.if_object()) {
    append_list(out, *object, "{}", depth, [&](const auto& member, int inner) {
      out += json::serialize(member.key());
      out += inner < 0 ? ":" : ": ";
      append(out, member.value(), inner);
    });
  } else if (const auto* array = value.if_array()) {
    append_list(out, *array, "[]", depth, [&](const auto& item, int inner) { append(out, item, inner); });
  } else if (const auto* number = value.if_double()) {
    // {} writes the shortest text that reads back as the same number.
    out += std::isfinite(*number) ? fmt::format("{}", *number) : "null";
  } else {
    out += json::serialize(value);
  }
}

}  // namespace

json::value millis(std::int64_t micros) {
  return static_cast<double>(micros) / 1000.0;
}

json::value quantile_millis(const std::optional<record::Quantile>& quantile) {
  if (!quantile) return nullptr;
  if (!quantile->at_least) return millis(quantile->micros);
  return json::string{fmt::format(">={}", static_cast<double>(quantile->micros) / 1000.0)};
}

std::string quantile_text(const std::optional<record::Quantile>& quantile, int decimals) {
  if (!quantile) return "-";
  return fmt::format("{}{:.{}f}", quantile->at_least ? ">=" : "",
                     static_cast<double>(quantile->micros) / 1000, decimals);
}

std::string utc(std::int64_t epoch_millis) {
  const std::time_t seconds = epoch_millis / 1000;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(seconds), epoch_millis % 1000);
}

std::string pretty(const json::value& value) {
  std::string out;
  append(out, value, 0);
  out += '\n';
  return out;
}

std::string compact(const json::value& value) {
  std::string out;
  append(out, value, -1);
  return out;
}

void write_atomically(const std::filesystem::path& file, std::string_view content) {
  auto temporary = file;
  temporary += ".tmp";
  const auto refuse = [&](const std::string& why) {
    // What is there of it is of no use, and a full disk needs the room.
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw std::runtime_error(fmt::format("cannot write {}: {}", file.string(), why));
  };
  {
    std::ofstream out{temporary, std::ios::binary | std::ios::trunc};
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    out.close();
    if (!out) refuse(std::strerror(errno));
  }
  std::error_code error;
  std::filesystem::rename(temporary, file, error);
  if (error) refuse(error.message());
}

void to_stderr(std::string_view text) noexcept {
  if (std::fwrite(text.data(), 1, text.size(), stderr) == text.size()) std::fflush(stderr);
}

}  // namespace heddle::report
