// A TCP connection that blocks its thread: the SyncStream of `threads`.
#pragma once

#include "services/waiting/client_socket.hpp"

#include <chrono>
#include <cstddef>

#include <boost/asio/buffer.hpp>
#include <boost/system/error_code.hpp>

namespace heddle::waiting {

// Not thread-safe; used by one thread at a time. Every call blocks the calling thread, at most until the
// deadline. Asio's own blocking sockets are not used: they can not time out (they fall back to an unbounded
// poll when SO_RCVTIMEO expires).
class ThreadStream {
 public:
  explicit ThreadStream(const ClientSocketOptions& options) : options_(&options) {}
  ThreadStream(const ThreadStream&) = delete;
  ThreadStream& operator=(const ThreadStream&) = delete;
  ~ThreadStream() { close(); }

  // Error: the system's, or timed_out after the connect timeout.
  void connect(boost::system::error_code& error);
  void close();

  // Reads and writes after this call must be done by then, or end with timed_out.
  void expires_after(std::chrono::milliseconds duration);

  // The SyncReadStream and SyncWriteStream requirements of Asio.
  template <class MutableBuffers>
  std::size_t read_some(const MutableBuffers& buffers, boost::system::error_code& error) {
    return read_first(first_of<boost::asio::mutable_buffer>(buffers), error);
  }
  template <class ConstBuffers>
  std::size_t write_some(const ConstBuffers& buffers, boost::system::error_code& error) {
    return write_first(first_of<boost::asio::const_buffer>(buffers), error);
  }

 private:
  using Clock = std::chrono::steady_clock;

  template <class Buffer, class Buffers>
  static Buffer first_of(const Buffers& buffers) {
    for (auto it = boost::asio::buffer_sequence_begin(buffers);
         it != boost::asio::buffer_sequence_end(buffers); ++it) {
      if (Buffer(*it).size() > 0) return *it;
    }
    return {};
  }

  std::size_t read_first(boost::asio::mutable_buffer buffer, boost::system::error_code& error);
  std::size_t write_first(boost::asio::const_buffer buffer, boost::system::error_code& error);
  // Blocks in poll(2). False: the deadline passed or poll failed; `error` says which.
  bool wait_for(short events, boost::system::error_code& error) const;

  const ClientSocketOptions* options_;
  int descriptor_ = -1;
  Clock::time_point deadline_ = Clock::time_point::max();
};

}  // namespace heddle::waiting
