// The command line of heddle-service.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace heddle::approaches {

struct Options {
  std::string approach;
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;
  std::size_t threads = 0;  // I/O threads; 0: one per CPU of the set
  std::vector<int> cpus;    // empty: those the process may use already
  std::size_t pool_threads = 5000;
  std::size_t fiber_stack_kib = 64;
  std::string repository = "memory";
  bool cache = true;
  bool read_only = true;
  std::string upstream_url;            // empty: the service itself
  std::string congestion_control;      // empty: cubic where the kernel has it, else the host's default
  std::size_t max_connections = 0;     // 0: what the descriptor limit allows
  std::size_t client_connections = 0;  // 0: 65,000 or a quarter of the descriptor limit
  std::string metrics_csv;             // empty: none
  bool print_config = false;
  bool list_approaches = false;
  bool version = false;
  bool help = false;
};

// Throws std::invalid_argument with one line that says what is wrong and what is accepted.
[[nodiscard]] Options parse_options(int argc, const char* const* argv);

void print_help(std::ostream& out);

}  // namespace heddle::approaches
