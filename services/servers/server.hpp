// What accepts, parses and writes HTTP on one I/O thread.
#pragma once

#include "services/metrics/registry.hpp"
#include "services/servers/exchange.hpp"
#include "services/waiting/io_threads.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace heddle::servers {

// Equal for every approach; stated by --print-config and in the report.
struct ServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;
  std::string congestion_control;         // of the listener and all it accepts; empty: the host's default
  int backlog = 65'535;                   // the kernel caps it at net.core.somaxconn
  std::size_t max_connections = 0;        // per I/O thread; more wait in the backlog
  std::chrono::seconds timeout{60};       // each of: next message, handling, writing
  std::chrono::seconds timer_period{10};  // how often each connection checks its timeouts
  std::size_t read_buffer_bytes = 1024;
  std::size_t max_target_bytes = 4 * 1024;
  std::size_t max_field_bytes = 12 * 1024;  // of one header value; with the target within 16 KiB
  std::size_t max_fields = 64;
  std::uint64_t max_body_bytes = 1024 * 1024;
};

// A port that somebody listens on already, also one that would share it (SO_REUSEPORT). Throws
// std::runtime_error with address, port and what was found. Call before the first server opens.
void require_free_port(const std::string& address, std::uint16_t port);

class Server {
 public:
  virtual ~Server() = default;

  // Opens the listener. Must be called on the server's I/O thread. Throws std::runtime_error.
  virtual void open() = 0;
  // Stops accepting; connections stay and finish their requests, each told to close. On the I/O thread.
  virtual void close() = 0;
};

// A RESTinio server on `loop`. `dispatch` is called on that loop's thread.
[[nodiscard]] std::unique_ptr<Server> make_restinio_server(waiting::IoThread& loop,
                                                           const ServerOptions& options,
                                                           metrics::ShardCounters& counters,
                                                           Dispatch dispatch);

}  // namespace heddle::servers
