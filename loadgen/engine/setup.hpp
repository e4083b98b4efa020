// Everything the engine threads share and only read.
#pragma once

#include "loadgen/engine/endpoint.hpp"
#include "loadgen/engine/not_measurable.hpp"
#include "loadgen/engine/resolve.hpp"
#include "loadgen/plan/mix.hpp"
#include "loadgen/plan/plan.hpp"
#include "loadgen/record/request_log.hpp"

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

// The part of Setup::targets that one URL of the plan resolved to.
struct Answers {
  std::size_t first = 0;
  std::size_t count = 0;
};

struct Setup {
  plan::Plan plan;
  std::vector<StageGroup> groups;  // warm-up (when there is one), then measure
  plan::RequestMix mix;
  std::vector<Address> targets;                        // the answers of all URLs, those of a URL in a row
  std::vector<Answers> answers;                        // by URL
  std::vector<Address> sources;                        // of all families; empty = the kernel chooses
  std::vector<std::vector<std::uint32_t>> sources_of;  // by target: numbers in sources; empty as above
  SocketOptions socket_options;
  // requests[target][class]: the bytes to send.
  std::vector<std::vector<std::string>> requests;
  std::vector<bool> is_head;  // by class
  std::uint32_t threads = 1;
  bool own_descriptor_tables = false;         // each thread unshares its table before it opens anything
  record::RequestLog* request_log = nullptr;  // null = no row per request
  std::int64_t connections = 0;               // in all
  std::int64_t opened_at_start = 0;           // of them, in the connect phase
  std::vector<std::string> warnings;          // for people, a line each
};

// `bodies[class]`: what request `class` carries. Resolves the targets, and where a URL has several answers
// tries to connect to each (blocks, 1 s at most besides the resolver): those that fail are left out with a
// warning as long as one answers. Throws std::runtime_error or std::invalid_argument.
[[nodiscard]] Setup make_setup(plan::Plan plan, const std::vector<std::string>& bodies,
                               const Resolver& resolver = resolve_all);

// Finds out whether one descriptor table is enough (Setup::own_descriptor_tables; a warning when tables per
// thread are taken because it is not) and raises the soft limit when needed. Throws NotMeasurable with the
// numbers and what helps. Call it before threads start.
void ensure_descriptors(Setup& setup);

// Ports for all connections, and a backlog for the connect burst: adds warnings. Throws NotMeasurable with
// the numbers and what helps.
void ensure_ports(Setup& setup);

}  // namespace heddle::engine
