#include "loadgen/commands/common.hpp"

#include "loadgen/engine/host_check.hpp"
#include "loadgen/http/request.hpp"
#include "loadgen/plan/input_file.hpp"
#include "loadgen/report/output_file.hpp"

#include <cstdio>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

namespace heddle::load {

void print(const std::string& text) {
  report::OutputFile out{"-"};
  out.write(text);
  if (!out.problem().empty()) throw std::runtime_error(out.problem());
}

void tell(const std::string& text) {
  fmt::print(stderr, "heddle-load: {}\n", text);
}

std::vector<std::string> read_bodies(const plan::Plan& plan) {
  std::vector<std::string> bodies;
  for (const auto& request : plan.requests) {
    std::string content;
    if (!request.body_file.empty()) content = plan::read_input_file(request.body_file, "the body file");
    bodies.push_back(http::body_to_send(content, request.body_file));
  }
  return bodies;
}

engine::Setup prepare(const plan::Plan& plan, const std::vector<std::string>& bodies) {
  auto setup = engine::checked_setup(plan, bodies);
  // Once, however many runs a search makes.
  static std::set<std::string> told;
  for (const auto& warning : setup.warnings) {
    if (told.insert(warning).second) tell(warning);
  }
  return setup;
}

}  // namespace heddle::load
