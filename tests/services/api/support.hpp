// Short ways to ask and to look at what came back.
#pragma once

#include "services/api/call.hpp"

#include <string>
#include <string_view>
#include <variant>

#include <gtest/gtest.h>

namespace heddle::api::test {

inline constexpr std::string_view kApproach = "fibers-restinio";

inline Request get(std::string_view target) {
  return {.method = Method::get, .target = target, .content_type = {}, .body = {}};
}

inline Request post(std::string_view target, std::string_view body,
                    std::string_view content_type = "application/json") {
  return {.method = Method::post, .target = target, .content_type = content_type, .body = body};
}

// The call that a request is, or a failed test and an empty call.
inline Call accepted(const Request& request) {
  auto outcome = parse_call(request, kApproach);
  if (const auto* refused = std::get_if<Response>(&outcome)) {
    ADD_FAILURE() << request.target << " was refused: " << refused->body;
    return {};
  }
  return std::get<Call>(std::move(outcome));
}

// The response that refuses a request, or a failed test and status 0.
inline Response refused(const Request& request) {
  auto outcome = parse_call(request, kApproach);
  if (std::holds_alternative<Call>(outcome)) {
    ADD_FAILURE() << request.target << " was accepted";
    return {.status = 0, .content_type = {}, .body = {}, .allow = {}};
  }
  return std::get<Response>(std::move(outcome));
}

}  // namespace heddle::api::test
