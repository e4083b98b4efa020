// I/O threads: one io_context each, shared by nobody. Every approach stands on these.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

namespace heddle::waiting {

// One event loop. The constructor creates the reactor (epoll and timer descriptors), so that the loops of
// all threads exist before any thread splits its descriptor table: a reactor made after
// unshare(CLONE_FILES) would never see a post from another thread.
class IoThread {
 public:
  explicit IoThread(std::size_t index);

  [[nodiscard]] boost::asio::io_context& context() { return context_; }
  [[nodiscard]] std::size_t index() const { return index_; }

  // Runs handlers until stop(). Exceptions of handlers are reported and the loop goes on. Blocks.
  void run();

  // Lets run() return at once, whatever is queued. Thread-safe.
  void stop() { context_.stop(); }

 private:
  std::size_t index_;
  boost::asio::io_context context_{1};  // 1: same-thread posts skip the lock; posts from others stay legal
  boost::asio::steady_timer reactor_anchor_{context_};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{context_.get_executor()};
};

class IoThreads {
 public:
  // Runs on the new thread until the service stops. Must not throw.
  using Body = std::function<void(IoThread&)>;

  explicit IoThreads(std::size_t count);

  // Starts the threads. When cpus.size() == size(), thread i is pinned to cpus[i]; otherwise all inherit
  // the caller's affinity.
  void start(const Body& body, const std::vector<int>& cpus);
  void join();

  [[nodiscard]] std::size_t size() const { return loops_.size(); }
  [[nodiscard]] IoThread& operator[](std::size_t index) { return *loops_[index]; }

  // Waits until every handler that was queued before this call has run, on every thread. Blocks.
  void drain();

 private:
  std::vector<std::unique_ptr<IoThread>> loops_;
  std::vector<std::thread> threads_;
};

// True on a thread that IoThreads started: the metrics prove with it where a task really ran.
[[nodiscard]] bool on_io_thread();

}  // namespace heddle::waiting
