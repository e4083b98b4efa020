#include "services/waiting/io_threads.hpp"

#include "host-tuning/cpus.hpp"
#include "services/waiting/fault.hpp"

#include <chrono>
#include <exception>
#include <future>

#include <boost/asio/post.hpp>

namespace heddle::waiting {

namespace {
thread_local bool is_io_thread = false;
}

bool on_io_thread() {
  return is_io_thread;
}

IoThread::IoThread(std::size_t index) : index_(index) {
  // Constructing the timer created the reactor; arming and cancelling creates its timer descriptor.
  reactor_anchor_.expires_after(std::chrono::hours(1));
  reactor_anchor_.cancel();
}

void IoThread::run() {
  for (;;) {
    try {
      context_.run();
      return;
    } catch (const std::exception& error) {
      report_fault("an event handler", error.what());
    }
  }
}

IoThreads::IoThreads(std::size_t count) {
  for (std::size_t index = 0; index < count; ++index) loops_.push_back(std::make_unique<IoThread>(index));
}

void IoThreads::start(const Body& body, const std::vector<int>& cpus) {
  const bool pin_each = cpus.size() == loops_.size();
  for (auto& loop : loops_) {
    threads_.emplace_back([&loop = *loop, body, pin = pin_each ? cpus[loop->index()] : -1] {
      if (pin >= 0) host::pin_thread(std::vector<int>{pin});
      is_io_thread = true;
      body(loop);
    });
  }
}

void IoThreads::join() {
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

void IoThreads::drain() {
  // Two turns: a handler queued before the first marker may itself queue the write of a response.
  for (int turn = 0; turn < 2; ++turn) {
    for (auto& loop : loops_) {
      std::promise<void> reached;
      boost::asio::post(loop->context(), [&reached] { reached.set_value(); });
      reached.get_future().wait();
    }
  }
}

}  // namespace heddle::waiting
