// A bounded pool of blocking threads: the way `threads` waits.
#pragma once

#include "host-tuning/cpus.hpp"
#include "services/waiting/blocking_thread.hpp"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <semaphore>
#include <vector>

namespace heddle::waiting {

struct ThreadPoolLimits {
  std::size_t threads = 5000;                     // as many as the ancestor's platform-thread server allows
  std::vector<int> cpus = {};                     // where the threads may run; empty: where their creator may
  std::size_t queue = 65'000;                     // jobs that may wait for a thread; more are refused
  std::size_t stack_bytes = kBlockingStackBytes;  // address space, not memory: only touched pages count
};

// Threads are created when no idle one is left, up to the limit, and kept. A job is handed straight to the
// thread that became idle last (its stack and caches are the warmest), so an idle pool of thousands costs
// nothing and no lock is fought over on wake-up.
template <class Job>
class ThreadPool {
 public:
  using Run = std::function<void(Job&)>;

  // `run` is called on a pool thread for every job; it may block and must not throw.
  ThreadPool(ThreadPoolLimits limits, Run run) : limits_(limits), run_(std::move(run)) {}
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool() { stop(); }

  // Blocks for one short lock, and for as long as it takes to create a thread while the pool grows. False:
  // the queue is full or the host allows no thread at all; the job was left untouched.
  [[nodiscard]] bool submit(Job&& job) {
    std::unique_lock lock(mutex_);
    if (!idle_.empty()) {
      Worker* worker = idle_.back();
      idle_.pop_back();
      worker->job.emplace(std::move(job));
      lock.unlock();
      worker->wake.release();
      return true;
    }
    if (queue_.size() >= limits_.queue) return false;
    if (threads_ < limits_.threads && start_blocking_thread(limits_.stack_bytes, [this] { work(); })) {
      ++threads_;  // it takes its first job from the queue
    }
    if (threads_ == 0) return false;  // a host that refuses another thread is no failure while one runs
    queue_.push_back(std::move(job));
    return true;
  }

  // Finishes the jobs that are queued, then ends all threads. Blocks.
  void stop() {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    for (Worker* worker : idle_) worker->wake.release();
    idle_.clear();
    ended_.wait(lock, [this] { return threads_ == 0; });
  }

  [[nodiscard]] std::size_t threads() const {
    return locked([this] { return threads_; });
  }
  [[nodiscard]] std::size_t in_use() const {
    return locked([this] { return threads_ - idle_.size(); });
  }
  [[nodiscard]] std::size_t waiting() const {
    return locked([this] { return queue_.size(); });
  }

 private:
  struct Worker {
    std::binary_semaphore wake{0};
    std::optional<Job> job;
  };

  template <class Read>
  std::size_t locked(Read read) const {
    const std::lock_guard lock(mutex_);
    return read();
  }

  void work() {
    // The creator is an I/O thread, often pinned to one CPU: the pool must not inherit that.
    if (!limits_.cpus.empty()) host::pin_thread(limits_.cpus);
    Worker self;
    std::unique_lock lock(mutex_);
    for (;;) {
      if (!queue_.empty()) {
        self.job.emplace(std::move(queue_.front()));
        queue_.pop_front();
        lock.unlock();
      } else if (stopping_) {
        break;
      } else {
        idle_.push_back(&self);
        lock.unlock();
        self.wake.acquire();
      }
      if (self.job) {
        run_(*self.job);
        self.job.reset();
      }
      lock.lock();
    }
    if (--threads_ == 0) ended_.notify_all();  // under the lock: stop() may destroy the pool right after
  }

  ThreadPoolLimits limits_;
  Run run_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::deque<Job> queue_;
  std::vector<Worker*> idle_;
  std::size_t threads_ = 0;
  bool stopping_ = false;
};

}  // namespace heddle::waiting
