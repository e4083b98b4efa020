#include "services/waiting/fiber_scheduler.hpp"

#include "services/waiting/fault.hpp"

#include <exception>

#include <boost/asio/post.hpp>

namespace heddle::waiting {

boost::fibers::context* FiberScheduler::pick_next() noexcept {
  if (ready_.empty()) return nullptr;
  boost::fibers::context* next = &ready_.front();
  ready_.pop_front();
  return next;
}

void FiberScheduler::suspend_until(const Clock::time_point& deadline) noexcept {
  if (deadline < armed_for_) arm(deadline);
  // One handler, not a batch: what it makes ready runs next, and polling on for more would cost an
  // epoll_wait that returns nothing at the end of each batch.
  try {
    context_.run_one();
  } catch (const std::exception& error) {
    report_fault("an event handler", error.what());
  }
}

void FiberScheduler::arm(Clock::time_point deadline) {
  armed_for_ = deadline;
  timer_.expires_at(deadline);
  timer_.async_wait([this, deadline](const boost::system::error_code& error) {
    // An aborted wait belongs to a deadline that has since moved: its successor is armed.
    if (!error && armed_for_ == deadline) armed_for_ = Clock::time_point::max();
  });
}

void FiberScheduler::notify() noexcept {
  if (!notified_.exchange(true, std::memory_order_acq_rel)) {
    boost::asio::post(context_, [this] { notified_.store(false, std::memory_order_release); });
  }
}

}  // namespace heddle::waiting
