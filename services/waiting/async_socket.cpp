#include "services/waiting/async_socket.hpp"

#include <boost/asio/error.hpp>

namespace heddle::waiting {

void AsyncSocket::open(boost::system::error_code& error) {
  close();
  timed_out_ = false;
  const int descriptor = open_client_socket(*options_, error);
  if (!error) socket_.assign(options_->peer.protocol(), descriptor, error);
  if (!error) socket_.non_blocking(true, error);  // for write_now
}

std::size_t AsyncSocket::write_now(boost::asio::const_buffer bytes, boost::system::error_code& error) {
  const std::size_t written = socket_.write_some(bytes, error);
  if (error == boost::asio::error::would_block) error = {};
  return written;
}

boost::system::error_code AsyncSocket::explain(boost::system::error_code error) const {
  return error && timed_out_ ? boost::asio::error::timed_out : error;
}

void AsyncSocket::close() {
  boost::system::error_code ignored;  // a descriptor is gone after close(2), whatever it returned
  socket_.close(ignored);
  expires_never();
}

void AsyncSocket::expires_after(std::chrono::milliseconds duration) {
  deadline_ = Clock::now() + duration;
  if (deadline_ < armed_for_) arm();
}

void AsyncSocket::arm() {
  armed_for_ = deadline_;
  timer_.expires_at(deadline_);
  timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    if (error) return;  // aborted: an earlier deadline took its place
    if (const auto self = weak.lock()) self->check();
  });
}

void AsyncSocket::check() {
  armed_for_ = Clock::time_point::max();
  if (deadline_ == Clock::time_point::max()) return;  // idle connection: armed again with its next use
  if (Clock::now() < deadline_) return arm();
  timed_out_ = true;
  boost::system::error_code ignored;  // only wakes the waiting operation
  socket_.close(ignored);
}

}  // namespace heddle::waiting
