#include "loadgen/cli/values.hpp"

#include "loadgen/options.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace heddle::load {
namespace {

constexpr std::string_view kRange = "..";

// The whole text as a number; empty when it is none.
std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

}  // namespace

void refuse(std::string_view option, std::string_view found, std::string_view accepted) {
  throw UsageError(fmt::format("--{}: found '{}', accepted: {}", option, found, accepted));
}

std::int64_t parse_integer(const std::string& text, std::string_view option, std::int64_t low,
                           std::int64_t high) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high) {
    refuse(option, text, fmt::format("an integer from {} to {}", low, high));
  }
  return value;
}

double parse_number(const std::string& text, std::string_view option, double low, double high) {
  const auto value = number_in(text);
  if (!value || *value < low || *value > high) {
    refuse(option, text, fmt::format("a number from {} to {}", low, high));
  }
  return *value;
}

plan::Nanos parse_duration(const std::string& text, const std::string& option) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string unit{end, text.data() + text.size()};
  double nanos = 0;
  if (unit.empty() || unit == "s") nanos = 1e9;
  if (unit == "us") nanos = 1e3;
  if (unit == "ms") nanos = 1e6;
  if (unit == "m") nanos = 60e9;
  if (unit == "h") nanos = 3600e9;
  const double longest = static_cast<double>(plan::kMaxDurationMillis) * 1e6;
  if (error != std::errc{} || nanos == 0 || !(value >= 0) || value * nanos > longest) {
    refuse(option, text, "a time such as 10s, 500ms, 2m, 1h (7 days at most)");
  }
  return std::llround(value * nanos);
}

plan::Arrivals parse_rate(const std::string& text, std::string_view option) {
  const auto accepted =
      fmt::format("a number from {} to {:.0f} (requests per second), or FROM..TO with 0 to {:.0f}",
                  plan::kMinRate, plan::kMaxRate, plan::kMaxRate);
  const auto dots = text.find(kRange);
  if (dots == std::string::npos) {
    const auto rate = number_in(text);
    if (!rate || *rate < plan::kMinRate || *rate > plan::kMaxRate) refuse(option, text, accepted);
    return plan::ConstantRate{*rate};
  }
  const auto from = number_in(std::string_view{text}.substr(0, dots));
  const auto to = number_in(std::string_view{text}.substr(dots + kRange.size()));
  const auto good = [](const auto& rate) { return rate && *rate >= 0 && *rate <= plan::kMaxRate; };
  if (!good(from) || !good(to)) refuse(option, text, accepted);
  return plan::RateRamp{*from, *to};
}

plan::Think parse_think(const std::string& text) {
  constexpr std::string_view exponential = "exp:";
  const std::string option = "think";
  if (text.starts_with(exponential)) {
    const auto mean = parse_duration(text.substr(exponential.size()), option);
    return {plan::ThinkKind::exponential, mean, mean};
  }
  const auto dots = text.find(kRange);
  if (dots != std::string::npos) {
    const auto low = parse_duration(text.substr(0, dots), option);
    const auto high = parse_duration(text.substr(dots + kRange.size()), option);
    if (low > high) refuse(option, text, "LOW..HIGH with LOW <= HIGH");
    return {plan::ThinkKind::uniform, low, high};
  }
  const auto time = parse_duration(text, option);
  if (time == 0) return {};
  return {plan::ThinkKind::constant, time, time};
}

StageText parse_stage(const std::string& text) {
  const auto colon = text.find(':');
  if (colon == std::string::npos)
    refuse("stage", text, "TIME:RATE or TIME:FROM..TO, such as 10s:500 or 1m:0..2000");
  StageText out{parse_duration(text.substr(0, colon), "stage"), parse_rate(text.substr(colon + 1), "stage")};
  if (out.duration < plan::kMillisecond) refuse("stage", text, "a time of 1ms or more");
  return out;
}

std::optional<plan::Nanos> parse_spin(const std::string& text) {
  if (text == "auto") return {};
  if (text == "off") return 0;
  constexpr auto most = plan::kMaxSpinMicros * plan::kMicrosecond;
  const auto time = parse_duration(text, "spin");
  if (time > most) refuse("spin", text, "auto, off, or a time up to 1s, such as 50us");
  return time;
}

std::vector<std::string> parse_list(const std::string& text, std::string_view option) {
  std::vector<std::string> out;
  std::size_t begin = 0;
  while (true) {
    const auto comma = text.find(',', begin);
    out.push_back(text.substr(begin, comma == std::string::npos ? comma : comma - begin));
    if (out.back().empty()) refuse(option, text, "a list with a comma between two");
    if (comma == std::string::npos) return out;
    begin = comma + 1;
  }
}

std::pair<std::string, std::string> parse_header(const std::string& text) {
  const auto colon = text.find(':');
  if (colon == std::string::npos || colon == 0) refuse("header", text, "NAME: VALUE");
  const auto value = text.find_first_not_of(' ', colon + 1);
  return {text.substr(0, colon), value == std::string::npos ? "" : text.substr(value)};
}

}  // namespace heddle::load
