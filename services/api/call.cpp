#include "services/api/call.hpp"

#include "services/api/json.hpp"
#include "services/api/query.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace heddle::api {
namespace {

enum class Route { epoch_millis, movies, probe, unknown };

// "/{approach}/epoch-millis" and so on; anything else, another approach included, is unknown.
Route route_of(std::string_view path, std::string_view approach) {
  if (path == kHealthPath || path == kMetricsPath) return Route::probe;
  if (!path.starts_with('/') || !path.substr(1).starts_with(approach)) return Route::unknown;
  const std::string_view rest = path.substr(1 + approach.size());
  if (rest == "/epoch-millis") return Route::epoch_millis;
  if (rest == "/movies") return Route::movies;
  return Route::unknown;
}

// The path is not repeated: the answer to a wrong path is the same in every approach.
Response not_found() {
  return problem(
      404,
      "path: found another one, accepted are /{approach}/epoch-millis, /{approach}/movies, /health "
      "and /metrics, where {approach} is the one that /health tells");
}

Response method_not_allowed(std::string_view allow) {
  Response response =
      problem(405, fmt::format("method: found another one, accepted on this path: {}", allow));
  response.allow = allow;
  return response;
}

// "application/json", case ignored, with or without parameters after a semicolon (RFC 9110 section 8.3.1).
bool is_json(std::string_view content_type) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.remove_suffix(1);
  return std::ranges::equal(type, kJson, [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == static_cast<unsigned char>(b);
  });
}

// Checks a decimal integer from 0 to max. Returns the fault, or nothing and sets `value`.
std::optional<std::string> read_integer(std::string_view name, const std::string& text, std::int64_t max,
                                        std::int64_t& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc{} && stop == end && value >= 0 && value <= max) return std::nullopt;
  return fmt::format("{}: found {}, accepted is an integer from 0 to {}", name, quoted(text), max);
}

// Reads the parameters that `call.endpoint` has into `call`.
std::optional<std::string> read_query(std::string_view query, Call& call) {
  Parameters parameters;
  if (auto fault = parse_parameters(query, parameters)) return fault;
  if (parameters.delay_call_depth) {
    std::int64_t depth = 0;
    if (auto fault = read_integer("delayCallDepth", *parameters.delay_call_depth, kMaxDepth, depth)) {
      return fault;
    }
    call.depth = static_cast<int>(depth);
  }
  if (parameters.delay_in_millis) {
    std::int64_t millis = 0;
    if (auto fault = read_integer("delayInMillis", *parameters.delay_in_millis, kMaxDelay.count(), millis)) {
      return fault;
    }
    call.delay = std::chrono::milliseconds{millis};
  }
  if (call.endpoint == Endpoint::find_movies) {
    if (!parameters.director_last_name || parameters.director_last_name->empty()) {
      return "directorLastName: found nothing, accepted is the last name of a director";
    }
    call.director = *std::move(parameters.director_last_name);
  }
  return std::nullopt;
}

// Everything about the body of a POST but what the JSON says.
std::optional<Response> refuse_body(const Request& request) {
  if (!is_json(request.content_type)) {
    return problem(
        415, fmt::format("Content-Type: found {}, accepted is {}",
                         request.content_type.empty() ? "nothing" : quoted(request.content_type), kJson));
  }
  if (request.body.size() > kMaxBodyBytes) {
    return problem(413, fmt::format("body: found {} bytes, accepted are {} at most", request.body.size(),
                                    kMaxBodyBytes));
  }
  return std::nullopt;
}

}  // namespace

std::variant<Call, Response> parse_call(const Request& request, std::string_view approach) {
  const Target target = split_target(request.target);
  const bool get = request.method == Method::get;
  const bool post = request.method == Method::post;
  Call call;
  switch (route_of(target.path, approach)) {
    case Route::unknown:
      return not_found();
    case Route::probe:
      return method_not_allowed("GET");
    case Route::epoch_millis:
      if (!get) return method_not_allowed("GET");
      call.endpoint = Endpoint::epoch_millis;
      break;
    case Route::movies:
      if (!get && !post) return method_not_allowed("GET, POST");
      call.endpoint = get ? Endpoint::find_movies : Endpoint::save_movies;
      break;
  }
  if (post) {
    if (auto refused = refuse_body(request)) return *std::move(refused);
  }
  if (const auto fault = read_query(target.query, call)) return problem(400, *fault);
  if (post) {
    auto parsed = parse_movies(request.body);
    if (const auto* fault = std::get_if<JsonFault>(&parsed)) return problem(400, fault->detail);
    call.movies = std::get<std::vector<Movie>>(std::move(parsed));
  }
  return call;
}

bool is_get(const Request& request, std::string_view path) {
  return request.method == Method::get && split_target(request.target).path == path;
}

std::string nested_target(const Call& call, std::string_view approach) {
  return fmt::format("/{}/epoch-millis?delayCallDepth={}&delayInMillis={}", approach, call.depth - 1,
                     call.delay.count());
}

}  // namespace heddle::api
