#include "loadgen/commands/common.hpp"

#include "loadgen/engine/host_check.hpp"
#include "loadgen/http/request.hpp"
#include "loadgen/plan/input_file.hpp"
#include "loadgen/report/output_file.hpp"
#include "loadgen/report/text.hpp"

#include <cstdio>
#include <stdexcept>

#include <fmt/format.h>

namespace heddle::load {

void print(const std::string& text) {
  report::OutputFile out{"-"};
  out.write(text);
  if (!out.problem().empty()) throw std::runtime_error(out.problem());
}

void tell(const std::string& text) {
  report::to_stderr(fmt::format("heddle-load: {}\n", text));
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

engine::Setup prepare(const plan::Plan& plan, const std::vector<std::string>& bodies, Teller& teller) {
  auto setup = engine::checked_setup(plan, bodies);
  for (const auto& warning : setup.warnings) teller(warning);
  return setup;
}

}  // namespace heddle::load
