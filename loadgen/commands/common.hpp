// What all commands share.
#pragma once

#include "loadgen/engine/setup.hpp"
#include "loadgen/exit_code.hpp"
#include "loadgen/plan/plan.hpp"

#include <set>
#include <string>
#include <vector>

namespace heddle::load {

// To standard output. Throws std::runtime_error when it does not take all. Blocks as it does.
void print(const std::string& text);

// "heddle-load: TEXT" on standard error.
void tell(const std::string& text);

// What each request carries, read from its file. Throws std::invalid_argument. Blocks.
[[nodiscard]] std::vector<std::string> read_bodies(const plan::Plan& plan);

// Tells each text once, however many runs a command makes.
class Teller {
 public:
  void operator()(const std::string& text) {
    if (!text.empty() && told_.insert(text).second) tell(text);
  }

 private:
  std::set<std::string> told_;
};

// The plan, checked against this host and ready to run; `teller` gets the warnings. Throws
// std::invalid_argument, std::runtime_error or engine::NotMeasurable. Blocks (the resolver).
[[nodiscard]] engine::Setup prepare(const plan::Plan& plan, const std::vector<std::string>& bodies,
                                    Teller& teller);

}  // namespace heddle::load
