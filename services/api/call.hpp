// What a request asks for, after routing and validation; and the answers that need no I/O.
#pragma once

#include "services/api/message.hpp"
#include "services/api/movie.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace heddle::api {

enum class Endpoint { epoch_millis, find_movies, save_movies };

inline constexpr std::chrono::milliseconds kDefaultDelay{100};  // the ancestor's documented default
inline constexpr std::chrono::milliseconds kMaxDelay{600'000};
inline constexpr int kMaxDepth = 100;
inline constexpr std::size_t kMaxBodyBytes = 1024 * 1024;

struct Call {
  Endpoint endpoint = Endpoint::epoch_millis;
  int depth = 0;  // self-calls still to make; only depth 0 waits
  std::chrono::milliseconds delay = kDefaultDelay;
  std::string director;       // find_movies: last name, percent-decoded
  std::vector<Movie> movies;  // save_movies: the parsed body
};

// Routes and validates. Every fault comes back as its ready problem response (400, 404, 405, 413, 415),
// byte-identical for every approach. `approach` is the first path segment that this service serves.
[[nodiscard]] std::variant<Call, Response> parse_call(const Request& request, std::string_view approach);

// Target of the self-call that a call with depth > 0 makes: "/{approach}/epoch-millis?..." with depth - 1.
[[nodiscard]] std::string nested_target(const Call& call, std::string_view approach);

[[nodiscard]] Response epoch_millis_response(std::chrono::system_clock::time_point now);
[[nodiscard]] Response movies_response(const std::vector<Movie>& movies);  // serialised on every call

// application/problem+json (RFC 9457): {"type":"about:blank","title":...,"status":...,"detail":...}
[[nodiscard]] Response problem(int status, std::string_view detail);

// The reason phrase of a status that this service answers with: the title of a problem. "Error" for others.
[[nodiscard]] std::string_view reason_phrase(int status);

// Paths outside of /{approach}. A server asks is_get first and answers these itself; every other method on
// them is left to parse_call, which answers 405.
inline constexpr std::string_view kHealthPath = "/health";
inline constexpr std::string_view kMetricsPath = "/metrics";
[[nodiscard]] bool is_get(const Request& request, std::string_view path);  // a query is ignored

// {"status":"up","approach":...}
[[nodiscard]] Response health_response(std::string_view approach);

}  // namespace heddle::api
