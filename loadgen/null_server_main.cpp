// The null server of the calibration on its own, for ci/bench-loadgen.sh: prints its port and serves until
// SIGTERM or SIGINT.
//
//   usage: heddle-null-server
#include "loadgen/calibrate/null_server.hpp"

#include <csignal>
#include <cstdio>
#include <exception>

#include <fmt/format.h>

int main() {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  sigaddset(&stop, SIGINT);
  sigprocmask(SIG_BLOCK, &stop, nullptr);
  try {
    const heddle::load::NullServer server{std::nullopt};
    fmt::print("{}\n", server.port());
    std::fflush(stdout);
    int signal = 0;
    sigwait(&stop, &signal);
    if (const auto problem = server.problem(); !problem.empty()) {
      fmt::print(stderr, "heddle-null-server: {}\n", problem);
      return 1;
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "heddle-null-server: {}\n", error.what());
    return 1;
  }
  return 0;
}
