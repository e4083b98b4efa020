// Everything the engine threads share and only read.
#pragma once

#include "loadgen/engine/endpoint.hpp"
#include "loadgen/plan/mix.hpp"
#include "loadgen/plan/plan.hpp"
#include "loadgen/record/request_log.hpp"

#include <stdexcept>
#include <string>
#include <vector>

namespace heddle::engine {

// Consecutive stages of one kind; between the two groups the backlog drains.
struct StageGroup {
  std::vector<plan::Stage> stages;
  std::uint32_t first_stage = 0;  // number of its first stage in the plan
  [[nodiscard]] bool measured() const {
    return !stages.empty() && stages.front().kind == plan::StageKind::measure;
  }
};

struct Setup {
  plan::Plan plan;
  std::vector<StageGroup> groups;  // warm-up (when there is one), then measure
  plan::RequestMix mix;
  std::vector<Address> targets;
  std::vector<Address> sources;  // empty = the kernel chooses
  SocketOptions socket_options;
  // requests[target][class]: the bytes to send.
  std::vector<std::vector<std::string>> requests;
  std::vector<bool> is_head;  // by class
  std::uint32_t threads = 1;
  bool own_descriptor_tables = false;         // each thread unshares its table before it opens anything
  record::RequestLog* request_log = nullptr;  // null = no row per request
  std::int64_t connections = 0;               // in all
  std::int64_t opened_at_start = 0;           // of them, in the connect phase
};

// `bodies[class]`: what request `class` carries. Resolves the targets (blocks). Throws std::runtime_error or
// std::invalid_argument.
[[nodiscard]] Setup make_setup(plan::Plan plan, const std::vector<std::string>& bodies);

// This host cannot run the plan: exit code 3.
class NotMeasurable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Descriptors that a run needs: one per connection, two per thread, and some for files.
[[nodiscard]] std::int64_t descriptors_needed(const Setup& setup);

// Raises the soft limit when needed. Throws NotMeasurable with both numbers.
void ensure_descriptors(const Setup& setup);

}  // namespace heddle::engine
