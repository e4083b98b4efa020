// What every model's request logic stands on, and the steps that never wait.
#pragma once

#include "services/api/call.hpp"
#include "services/movies/repository.hpp"
#include "services/upstream/reply.hpp"

#include <string>

namespace heddle::models {

struct Application {
  std::string approach;
  movies::Repository& repository;
};

// The last stage of a request: computes the answer, serialised anew each time. Does not wait.
[[nodiscard]] api::Response answer(api::Call& call, const Application& application);

// The response for an upstream call that failed: 502, 503 (pool or queue full) or 504.
[[nodiscard]] api::Response upstream_problem(const upstream::Reply& reply);

// The response for an exception in the request logic: 500.
[[nodiscard]] api::Response internal_problem(std::string_view what);

}  // namespace heddle::models
