// The outgoing connection of the models that never block: a socket with one lazy deadline.
#pragma once

#include "services/waiting/client_socket.hpp"

#include <chrono>
#include <memory>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

namespace heddle::waiting {

using LoopExecutor = boost::asio::io_context::executor_type;
using LoopSocket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, LoopExecutor>;
using LoopTimer =
    boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                      boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;

// Belongs to one I/O thread. Operations in flight when the deadline passes end with operation_aborted and
// explain() tells why. The timer is armed at most once per timeout and checked when it fires, instead of
// being moved at every operation: a deadline costs a request two stores.
class AsyncSocket : public std::enable_shared_from_this<AsyncSocket> {
 public:
  AsyncSocket(LoopExecutor executor, const ClientSocketOptions& options)
      : options_(&options), socket_(executor), timer_(executor) {}

  // Opens the descriptor; the caller then starts async_connect on socket() to options().peer.
  void open(boost::system::error_code& error);
  void close();

  // Writes what the kernel takes at once; 0 without an error when it takes nothing. A request that fits the
  // send buffer, as nearly all do, then needs no operation to wait for: that saves a turn of the loop.
  std::size_t write_now(boost::asio::const_buffer bytes, boost::system::error_code& error);

  void expires_after(std::chrono::milliseconds duration);
  void expires_never() { deadline_ = Clock::time_point::max(); }

  // What an operation's error means: aborted by the deadline is timed_out.
  [[nodiscard]] boost::system::error_code explain(boost::system::error_code error) const;

  [[nodiscard]] LoopSocket& socket() { return socket_; }
  [[nodiscard]] const ClientSocketOptions& options() const { return *options_; }

 private:
  using Clock = std::chrono::steady_clock;

  void arm();
  void check();

  const ClientSocketOptions* options_;
  LoopSocket socket_;
  LoopTimer timer_;
  Clock::time_point deadline_ = Clock::time_point::max();
  Clock::time_point armed_for_ = Clock::time_point::max();  // max: not armed
  bool timed_out_ = false;
};

}  // namespace heddle::waiting
