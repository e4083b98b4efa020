// How a fiber waits for an Asio operation of its own thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <utility>

#include <boost/fiber/context.hpp>
#include <boost/fiber/operations.hpp>
#include <boost/system/error_code.hpp>

namespace heddle::waiting {

struct IoResult {
  boost::system::error_code error;
  std::size_t bytes = 0;
};

// Suspends the calling fiber until the operation that `start` begins has completed. `start` is called with
// a handler for (error_code) or (error_code, size_t); it must begin the operation on this thread's
// io_context. Must be called from a worker fiber, never from a handler and never in a catch block: an
// exception in flight belongs to the thread, not to the fiber (Boost.Context < 1.88).
template <class Start>
IoResult await_in_fiber(Start&& start) {
  struct Shared {
    IoResult result;
    bool done = false;
    boost::fibers::context* waiter = nullptr;
  } shared;
  std::forward<Start>(start)([&shared](boost::system::error_code error, std::size_t bytes = 0) {
    shared.result = {error, bytes};
    shared.done = true;
    // The handler runs on this thread's dispatcher, so no lock is needed to make the waiter ready.
    if (shared.waiter != nullptr) boost::fibers::context::active()->schedule(shared.waiter);
  });
  if (!shared.done) {
    shared.waiter = boost::fibers::context::active();
    shared.waiter->suspend();
  }
  return shared.result;
}

// Suspends the calling fiber in the scheduler's sleep queue.
inline void suspend_for(std::chrono::nanoseconds duration) {
  boost::this_fiber::sleep_until(std::chrono::steady_clock::now() + duration);
}

}  // namespace heddle::waiting
