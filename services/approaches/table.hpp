// The one list of approaches. Everything else (scripts, tests, docs) asks `heddle-service --list-approaches`.
#pragma once

#include "services/approaches/service.hpp"
#include "services/metrics/registry.hpp"

#include <memory>
#include <span>
#include <string_view>

namespace heddle::approaches {

struct Approach {
  std::string_view name;  // also the first path segment of its URLs
  metrics::TaskKind kind;
  std::unique_ptr<Service> (*make)(Environment&);
};

[[nodiscard]] std::span<const Approach> all_approaches();

// Throws std::invalid_argument that lists the known ones.
[[nodiscard]] const Approach& find_approach(std::string_view name);

std::unique_ptr<Service> make_threadpool_restinio(Environment& environment);
std::unique_ptr<Service> make_fibers_restinio(Environment& environment);
std::unique_ptr<Service> make_reactor_restinio(Environment& environment);
std::unique_ptr<Service> make_coroutines_restinio(Environment& environment);

}  // namespace heddle::approaches
