// What a request asks for, after routing and validation; and the answers that need no I/O.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "services/api/message.hpp"
#include "services/api/movie.hpp"

namespace heddle::api {

enum class Endpoint { epoch_millis, find_movies, save_movies };

inline constexpr std::chrono::milliseconds kDefaultDelay{100};  // the ancestor's documented default
inline constexpr std::chrono::milliseconds kMaxDelay{600'000};
inline constexpr int kMaxDepth = 100;
inline constexpr std::size_t kMaxBodyBytes = 1024 * 1024;

struct Call {
  Endpoint endpoint = Endpoint::epoch_millis;
  int depth = 0;                            // self-calls still to make; only depth 0 waits
  std::chrono::milliseconds delay = kDefaultDelay;
  std::string director;                     // find_movies: last name, percent-decoded
  std::vector<Movie> movies;                // save_movies: the parsed body
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

}  // namespace heddle::api
