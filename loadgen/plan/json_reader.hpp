// Typed access to a JSON object with errors that name the key, what was found and what is accepted.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>

namespace heddle::plan {

class JsonReader {
 public:
  // `where` prefixes keys in messages, such as "stages[0]."; `warnings` collects unknown keys.
  JsonReader(const boost::json::value& value, std::string where);

  // A key that is absent or null gives the default; one of the wrong type or range throws PlanError.
  [[nodiscard]] std::string text(std::string_view key, std::optional<std::string> fallback = {});
  [[nodiscard]] std::int64_t integer(std::string_view key, std::int64_t low, std::int64_t high,
                                     std::optional<std::int64_t> fallback = {});
  [[nodiscard]] double number(std::string_view key, double low, double high,
                              std::optional<double> fallback = {});
  [[nodiscard]] bool boolean(std::string_view key, bool fallback);
  [[nodiscard]] std::string choice(std::string_view key, const std::vector<std::string>& accepted,
                                   std::optional<std::string> fallback = {});
  // Null when absent.
  [[nodiscard]] const boost::json::value* find(std::string_view key);
  [[nodiscard]] const boost::json::array* array(std::string_view key, bool required);

  [[nodiscard]] std::string path_of(std::string_view key) const { return where_ + std::string{key}; }
  [[noreturn]] void refuse(std::string_view key, std::string_view accepted);

  // The keys that nobody asked for.
  [[nodiscard]] std::vector<std::string> unknown() const;

 private:
  const boost::json::value& require(std::string_view key, std::string_view accepted);

  const boost::json::object* object_;
  std::string where_;
  std::set<std::string, std::less<>> asked_;
};

// A value as it stands in messages: shortened to 60 characters.
[[nodiscard]] std::string shown(const boost::json::value& value);

}  // namespace heddle::plan
