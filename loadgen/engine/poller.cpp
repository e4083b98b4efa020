#include "loadgen/engine/poller.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

namespace heddle::engine {
namespace {

// A batch is kept short so that requests that fall due meanwhile do not wait long: 64 answers take about
// half a millisecond.
constexpr std::size_t kBatch = 64;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

Poller::Poller() : events_(kBatch) {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) fail("epoll_create1");
  event_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  const int error = event_ < 0 ? errno : add(event_, kWakeToken);
  if (error == 0) return;
  if (event_ >= 0) close(event_);
  close(epoll_);
  throw std::system_error(error, std::generic_category(), "eventfd");
}

Poller::~Poller() {
  close(event_);
  close(epoll_);
}

int Poller::add(int fd, std::uint64_t token) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.u64 = token;
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : errno;
}

// Without the wake-up itself, which is no event of the caller's.
std::span<const epoll_event> Poller::found(int count) {
  const auto begin = events_.begin();
  const auto end = std::remove_if(begin, begin + std::max(count, 0),
                                  [](const epoll_event& event) { return event.data.u64 == kWakeToken; });
  return {events_.data(), static_cast<std::size_t>(end - begin)};
}

std::span<const epoll_event> Poller::wait(Nanos until) {
  const Nanos left = std::max<Nanos>(0, until - monotonic_now());
  const timespec timeout = as_timespec(left);
  const int count = epoll_pwait2(epoll_, events_.data(), static_cast<int>(events_.size()), &timeout, nullptr);
  if (count < 0 && errno != EINTR) fail("epoll_pwait2 (it needs Linux 5.11 or newer)");
  return found(count);
}

std::span<const epoll_event> Poller::poll(Nanos until) {
  for (;;) {
    const int count = epoll_wait(epoll_, events_.data(), static_cast<int>(events_.size()), 0);
    if (count < 0 && errno != EINTR) fail("epoll_wait");
    if (count > 0 || monotonic_now() >= until) return found(count);
  }
}

void Poller::wake() {
  // Edge-triggered: each write is a new edge, so the counter need not be read.
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(event_, &one, sizeof one);
}

}  // namespace heddle::engine
