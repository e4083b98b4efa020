// A Boost.Fiber scheduler that sleeps in the thread's io_context.
#pragma once

#include <atomic>
#include <chrono>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/fiber/algo/algorithm.hpp>
#include <boost/fiber/context.hpp>
#include <boost/fiber/scheduler.hpp>

namespace heddle::waiting {

// One per I/O thread; fibers never migrate. Ready fibers run first-in first-out; when none is ready the
// thread runs one handler of the io_context, which may make fibers ready. Handlers therefore run on the
// dispatcher's stack, outside every fiber, and must not block on a fiber primitive.
//
// One persistent timer stands for the earliest sleeping fiber. It is armed anew only when that deadline
// moves forward; re-arming at every idle turn would cancel a handler each time and spin at 100 % CPU.
//
// The Asio example of Boost.Fiber is not used: its nested run loses handlers posted from fibers.
class FiberScheduler final : public boost::fibers::algo::algorithm {
 public:
  explicit FiberScheduler(boost::asio::io_context& context) : context_(context), timer_(context) {}

  void awakened(boost::fibers::context* fiber) noexcept override { fiber->ready_link(ready_); }
  boost::fibers::context* pick_next() noexcept override;
  [[nodiscard]] bool has_ready_fibers() const noexcept override { return !ready_.empty(); }

  // Called by the dispatcher when no fiber is ready: blocks in epoll until a handler ran or `deadline`.
  void suspend_until(const std::chrono::steady_clock::time_point& deadline) noexcept override;

  // Called from other threads that made a fiber of this thread ready.
  void notify() noexcept override;

 private:
  using Clock = std::chrono::steady_clock;

  void arm(Clock::time_point deadline);

  boost::asio::io_context& context_;
  boost::asio::steady_timer timer_;
  Clock::time_point armed_for_ = Clock::time_point::max();  // max: not armed
  std::atomic<bool> notified_{false};
  boost::fibers::scheduler::ready_queue_type ready_{};
};

}  // namespace heddle::waiting
