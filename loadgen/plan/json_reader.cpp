#include "loadgen/plan/json_reader.hpp"

#include "loadgen/plan/plan_reader.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace heddle::plan {

namespace json = boost::json;

std::string shown(const json::value& value) {
  std::string text = json::serialize(value);
  constexpr std::size_t longest = 60;
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return text;
}

JsonReader::JsonReader(const json::value& value, std::string where)
    : object_{value.if_object()}, where_{std::move(where)} {
  if (object_ != nullptr) return;
  const auto name = where_.empty() ? std::string{"the plan"} : where_.substr(0, where_.size() - 1);
  throw PlanError(fmt::format("plan: {}: found {}, accepted: an object", name, shown(value)));
}

const json::value* JsonReader::find(std::string_view key) {
  asked_.emplace(key);
  const auto* value = object_->if_contains(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

void JsonReader::refuse(std::string_view key, std::string_view accepted) {
  const auto* value = find(key);
  throw PlanError(fmt::format("plan: {}: found {}, accepted: {}", path_of(key),
                              value == nullptr ? std::string{"nothing"} : shown(*value), accepted));
}

const json::value& JsonReader::require(std::string_view key, std::string_view accepted) {
  const auto* value = find(key);
  if (value == nullptr) refuse(key, accepted);
  return *value;
}

std::string JsonReader::text(std::string_view key, std::optional<std::string> fallback) {
  if (find(key) == nullptr && fallback) return *fallback;
  const auto& value = require(key, "a text");
  if (!value.is_string()) refuse(key, "a text");
  return std::string{value.as_string()};
}

std::int64_t JsonReader::integer(std::string_view key, std::int64_t low, std::int64_t high,
                                 std::optional<std::int64_t> fallback) {
  if (find(key) == nullptr && fallback) return *fallback;
  const auto accepted = fmt::format("an integer from {} to {}", low, high);
  json::error_code error;
  const auto& value = require(key, accepted);
  const auto result = value.is_number() ? value.to_number<std::int64_t>(error) : 0;
  if (!value.is_number() || error || result < low || result > high) refuse(key, accepted);
  return result;
}

double JsonReader::number(std::string_view key, double low, double high, std::optional<double> fallback) {
  if (find(key) == nullptr && fallback) return *fallback;
  const auto accepted = fmt::format("a number from {} to {}", low, high);
  const auto& value = require(key, accepted);
  json::error_code error;
  const auto result = value.is_number() ? value.to_number<double>(error) : 0;
  if (!value.is_number() || error || !std::isfinite(result) || result < low || result > high) {
    refuse(key, accepted);
  }
  return result;
}

bool JsonReader::boolean(std::string_view key, bool fallback) {
  const auto* value = find(key);
  if (value == nullptr) return fallback;
  if (!value->is_bool()) refuse(key, "true or false");
  return value->as_bool();
}

std::string JsonReader::choice(std::string_view key, const std::vector<std::string>& accepted,
                               std::optional<std::string> fallback) {
  if (find(key) == nullptr && fallback) return *fallback;
  const auto list = fmt::format("{}", fmt::join(accepted, ", "));
  const auto& value = require(key, list);
  if (!value.is_string()) refuse(key, list);
  std::string result{value.as_string()};
  if (std::find(accepted.begin(), accepted.end(), result) == accepted.end()) refuse(key, list);
  return result;
}

const json::array* JsonReader::array(std::string_view key, bool required) {
  const auto* value = find(key);
  if (value == nullptr && !required) return nullptr;
  if (value == nullptr || !value->is_array() || (required && value->as_array().empty())) {
    refuse(key, required ? "a list that is not empty" : "a list");
  }
  return &value->as_array();
}

std::vector<std::string> JsonReader::unknown() const {
  std::vector<std::string> keys;
  for (const auto& member : *object_) {
    const std::string_view key = member.key();
    if (asked_.find(key) == asked_.end()) keys.push_back(path_of(key));
  }
  return keys;
}

}  // namespace heddle::plan
