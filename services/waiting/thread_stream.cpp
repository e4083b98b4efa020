#include "services/waiting/thread_stream.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/error.hpp>

namespace heddle::waiting {

namespace {

boost::system::error_code last_error() {
  return {errno, boost::system::system_category()};
}

}  // namespace

void ThreadStream::connect(boost::system::error_code& error) {
  close();
  descriptor_ = open_client_socket(*options_, error);
  if (error) return;
  fcntl(descriptor_, F_SETFL, O_NONBLOCK);  // so that the wait for the connection can end at the deadline
  expires_after(options_->connect_timeout);
  const auto& peer = options_->peer;
  if (::connect(descriptor_, peer.data(), static_cast<socklen_t>(peer.size())) == 0) return;
  if (errno != EINPROGRESS) {
    error = last_error();
  } else if (wait_for(POLLOUT, error)) {
    int pending = 0;
    socklen_t size = sizeof pending;
    getsockopt(descriptor_, SOL_SOCKET, SO_ERROR, &pending, &size);
    error.assign(pending, boost::system::system_category());
  }
}

void ThreadStream::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

void ThreadStream::expires_after(std::chrono::milliseconds duration) {
  deadline_ = Clock::now() + duration;
}

bool ThreadStream::wait_for(short events, boost::system::error_code& error) const {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
    if (left <= 0) {
      error = boost::asio::error::timed_out;
      return false;
    }
    pollfd entry{descriptor_, events, 0};
    const int ready = poll(&entry, 1, static_cast<int>(std::min<long>(left, 3'600'000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) {
      error = last_error();
      return false;
    }
  }
}

std::size_t ThreadStream::read_first(boost::asio::mutable_buffer buffer, boost::system::error_code& error) {
  // Wait first: an answer that needs another server is never there at once, so trying would be a wasted call.
  if (!wait_for(POLLIN, error)) return 0;
  const ssize_t got = recv(descriptor_, buffer.data(), buffer.size(), 0);
  if (got > 0) {
    error = {};
    return static_cast<std::size_t>(got);
  }
  error = got == 0 ? boost::system::error_code(boost::asio::error::eof) : last_error();
  return 0;
}

std::size_t ThreadStream::write_first(boost::asio::const_buffer buffer, boost::system::error_code& error) {
  for (;;) {
    const ssize_t put = send(descriptor_, buffer.data(), buffer.size(), MSG_NOSIGNAL);
    if (put >= 0) {
      error = {};
      return static_cast<std::size_t>(put);
    }
    if (errno != EAGAIN && errno != EWOULDBLOCK) {
      error = last_error();
      return 0;
    }
    if (!wait_for(POLLOUT, error)) return 0;
  }
}

}  // namespace heddle::waiting
