#include "services/approaches/table.hpp"

#include <array>
#include <stdexcept>

#include <fmt/core.h>

namespace heddle::approaches {

std::span<const Approach> all_approaches() {
  using metrics::TaskKind;
  static constexpr std::array kAll{
      Approach{"threadpool-restinio", TaskKind::thread, make_threadpool_restinio},
      Approach{"fibers-restinio", TaskKind::fiber, make_fibers_restinio},
      Approach{"reactor-restinio", TaskKind::callback, make_reactor_restinio},
      Approach{"coroutines-restinio", TaskKind::coroutine, make_coroutines_restinio},
  };
  return kAll;
}

const Approach& find_approach(std::string_view name) {
  std::string known;
  for (const Approach& approach : all_approaches()) {
    if (approach.name == name) return approach;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", approach.name);
  }
  if (name.empty()) throw std::invalid_argument("--approach is missing; known: " + known);
  throw std::invalid_argument(fmt::format("--approach: '{}' is unknown; known: {}", name, known));
}

}  // namespace heddle::approaches
