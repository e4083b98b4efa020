// A TCP connection that suspends its fiber: the SyncStream of `fibers`, with the interface of ThreadStream.
#pragma once

#include "services/waiting/async_socket.hpp"
#include "services/waiting/fiber_waiting.hpp"

#include <chrono>
#include <cstddef>
#include <memory>

#include <boost/asio/error.hpp>

namespace heddle::waiting {

// Belongs to one I/O thread. Every call suspends the calling fiber, at most until the deadline.
class FiberStream {
 public:
  FiberStream(LoopExecutor executor, const ClientSocketOptions& options)
      : connection_(std::make_shared<AsyncSocket>(executor, options)) {}

  // Error: the system's, or timed_out after the connect timeout.
  void connect(boost::system::error_code& error) {
    connection_->open(error);
    if (error) return;
    expires_after(connection_->options().connect_timeout);
    error = connection_->explain(await_in_fiber([this](auto handler) {
                                   connection_->socket().async_connect(connection_->options().peer, handler);
                                 }).error);
  }
  void close() { connection_->close(); }

  // Reads and writes after this call must be done by then, or end with timed_out.
  void expires_after(std::chrono::milliseconds duration) { connection_->expires_after(duration); }

  template <class MutableBuffers>
  std::size_t read_some(const MutableBuffers& buffers, boost::system::error_code& error) {
    const IoResult result =
        await_in_fiber([&](auto handler) { connection_->socket().async_read_some(buffers, handler); });
    error = connection_->explain(result.error);
    return result.bytes;
  }
  template <class ConstBuffers>
  std::size_t write_some(const ConstBuffers& buffers, boost::system::error_code& error) {
    const std::size_t written = connection_->write_now(*boost::asio::buffer_sequence_begin(buffers), error);
    if (written > 0 || error) return written;
    const IoResult result =
        await_in_fiber([&](auto handler) { connection_->socket().async_write_some(buffers, handler); });
    error = connection_->explain(result.error);
    return result.bytes;
  }

 private:
  std::shared_ptr<AsyncSocket> connection_;
};

}  // namespace heddle::waiting
