#include "loadgen/report/slo.hpp"

#include <fmt/format.h>

namespace heddle::report {
namespace {

namespace json = boost::json;

json::value value_of(const record::SloResult& result) {
  if (!result.value) return nullptr;
  if (result.at_least) return json::string{fmt::format(">={}", *result.value)};
  return *result.value;
}

// Times and shares of errors must not be above their limit, rates not below.
bool is_upper_limit(const record::SloResult& result) {
  return !result.objective.ends_with("rate");
}

}  // namespace

json::array slo_json(const std::vector<record::SloResult>& results) {
  json::array out;
  for (const auto& result : results) {
    json::object entry;
    entry["objective"] = result.objective;
    entry["limit"] = result.limit;
    entry["unit"] = result.unit;
    entry["value"] = value_of(result);
    entry["state"] = record::name_of(result.state);
    entry["reason"] = result.reason.empty() ? json::value(nullptr) : json::value(json::string{result.reason});
    out.push_back(std::move(entry));
  }
  return out;
}

std::string slo_table(const std::vector<record::SloResult>& results) {
  if (results.empty()) return {};
  std::string out = fmt::format("{:<26}{:>16}{:>16}\n", "objective", "limit", "measured");
  for (const auto& result : results) {
    const auto limit =
        fmt::format("{} {:.6g} {}", is_upper_limit(result) ? "<=" : ">=", result.limit, result.unit);
    const auto value =
        result.value ? fmt::format("{}{:.6g} {}", result.at_least ? ">=" : "", *result.value, result.unit)
                     : std::string{"-"};
    out += fmt::format("{:<26}{:>16}{:>16}  {}{}{}\n", result.objective, limit, value,
                       record::name_of(result.state), result.reason.empty() ? "" : ": ", result.reason);
  }
  return out;
}

}  // namespace heddle::report
