#include "services/models/application.hpp"

#include <chrono>
#include <utility>

#include <fmt/core.h>

namespace heddle::models {

api::Response answer(api::Call& call, const Application& application) {
  switch (call.endpoint) {
    case api::Endpoint::find_movies:
      return api::movies_response(*application.repository.find_by_director(call.director));
    case api::Endpoint::save_movies:
      return api::movies_response(application.repository.save(std::move(call.movies)));
    case api::Endpoint::epoch_millis:
      break;
  }
  return api::epoch_millis_response(std::chrono::system_clock::now());
}

api::Response upstream_problem(const upstream::Reply& reply) {
  switch (reply.failure) {
    case upstream::Failure::pool_full:
    case upstream::Failure::pool_timeout:
      return api::problem(503, reply.detail);
    case upstream::Failure::timeout:
      return api::problem(504, reply.detail);
    case upstream::Failure::none:
      return api::problem(502,
                          fmt::format("the upstream answered with status {} instead of 200", reply.status));
    case upstream::Failure::connect:
    case upstream::Failure::broken:
      break;
  }
  return api::problem(502, reply.detail);
}

api::Response internal_problem(std::string_view what) {
  return api::problem(500, what);
}

}  // namespace heddle::models
