// What a server hands to the request logic and gets back. No I/O, no threads, no ownership of bytes.
#pragma once

#include <string>
#include <string_view>

namespace heddle::api {

enum class Method { get, head, post, put, delete_, patch, options, other };

// Views into bytes that the server keeps alive until it has taken the response.
struct Request {
  Method method = Method::get;
  std::string_view target;        // origin form, still percent-encoded: "/fibers-restinio/movies?..."
  std::string_view content_type;  // empty when the header is absent
  std::string_view body;
};

struct Response {
  int status = 200;
  std::string_view content_type;  // static storage; empty: the header is left out
  std::string body;
  std::string_view allow;  // static storage; non-empty only with 405
};

inline constexpr std::string_view kJson = "application/json";
inline constexpr std::string_view kProblemJson = "application/problem+json";
inline constexpr std::string_view kPrometheusText = "text/plain; version=0.0.4";

}  // namespace heddle::api
