#include "services/api/query.hpp"

#include <algorithm>
#include <array>

#include <boost/url/decode_view.hpp>
#include <boost/url/parse_query.hpp>
#include <fmt/format.h>

namespace heddle::api {

Target split_target(std::string_view target) {
  const std::size_t mark = target.find('?');
  if (mark == std::string_view::npos) return {.path = target, .query = {}};
  return {.path = target.substr(0, mark), .query = target.substr(mark + 1)};
}

std::optional<std::string> parse_parameters(std::string_view query, Parameters& parameters) {
  if (query.empty()) return std::nullopt;
  const auto parsed = boost::urls::parse_query(boost::urls::string_view(query.data(), query.size()));
  if (!parsed) {
    return fmt::format("query: found {}, accepted is a query as in RFC 3986, with other bytes as %XX",
                       quoted(query));
  }
  struct Slot {
    std::string_view name;
    std::optional<std::string>* value;
  };
  const std::array slots{Slot{"directorLastName", &parameters.director_last_name},
                         Slot{"delayCallDepth", &parameters.delay_call_depth},
                         Slot{"delayInMillis", &parameters.delay_in_millis}};
  boost::urls::encoding_opts form;
  form.space_as_plus = true;
  for (const auto parameter : *parsed) {
    const auto known =
        std::ranges::find_if(slots, [key = *parameter.key](const Slot& slot) { return key == slot.name; });
    if (known == slots.end()) continue;
    std::optional<std::string>& value = *known->value;
    if (value) return fmt::format("{}: found more than once, accepted is one value", known->name);
    value = parameter.value.decode(form);
  }
  return std::nullopt;
}

std::string quoted(std::string_view bytes) {
  constexpr std::size_t kShown = 64;
  std::string text = "\"";
  for (const char byte : bytes.substr(0, kShown)) {
    const auto code = static_cast<unsigned char>(byte);
    if (code < 0x20 || code >= 0x7F) {
      text += fmt::format("%{:02X}", code);
    } else {
      text += byte;
    }
  }
  text += bytes.size() > kShown ? "...\"" : "\"";
  return text;
}

}  // namespace heddle::api
