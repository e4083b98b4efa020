#include "services/waiting/thread_pool.hpp"

#include <atomic>
#include <latch>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace heddle::waiting {
namespace {

using Job = std::unique_ptr<int>;  // move-only, as an exchange is

TEST(ThreadPool, RunsEveryJobOnceBeforeStopReturns) {
  std::atomic<int> sum{0};
  ThreadPool<Job> pool({.threads = 4}, [&](Job& job) { sum += *job; });
  for (int value = 1; value <= 1000; ++value) ASSERT_TRUE(pool.submit(std::make_unique<int>(value)));
  pool.stop();
  EXPECT_EQ(sum, 500'500);
  EXPECT_EQ(pool.threads(), 0U);
}

TEST(ThreadPool, StartsThreadsOnlyWhenNoneIsIdleAndNotMoreThanAllowed) {
  std::latch all_started(3);
  std::latch may_end(1);
  std::mutex mutex;
  std::set<std::thread::id> ids;
  ThreadPool<Job> pool({.threads = 3}, [&](Job&) {
    {
      const std::lock_guard lock(mutex);
      ids.insert(std::this_thread::get_id());
    }
    all_started.count_down();
    may_end.wait();
  });
  for (int job = 0; job < 3; ++job) ASSERT_TRUE(pool.submit(std::make_unique<int>(job)));
  all_started.wait();
  EXPECT_EQ(pool.threads(), 3U);
  EXPECT_EQ(pool.in_use(), 3U);
  may_end.count_down();
  pool.stop();
  EXPECT_EQ(ids.size(), 3U);
}

TEST(ThreadPool, QueuesBeyondTheThreadsAndRefusesBeyondTheQueue) {
  std::latch started(1);
  std::latch may_end(1);
  std::atomic<int> done{0};
  ThreadPool<Job> pool({.threads = 1, .queue = 2}, [&](Job& job) {
    if (*job == 0) {
      started.count_down();
      may_end.wait();
    }
    ++done;
  });
  ASSERT_TRUE(pool.submit(std::make_unique<int>(0)));
  started.wait();
  EXPECT_TRUE(pool.submit(std::make_unique<int>(1)));
  EXPECT_TRUE(pool.submit(std::make_unique<int>(2)));
  EXPECT_EQ(pool.waiting(), 2U);
  Job refused = std::make_unique<int>(3);
  EXPECT_FALSE(pool.submit(std::move(refused)));
  ASSERT_NE(refused, nullptr) << "a refused job must stay with its owner, who answers it";
  may_end.count_down();
  pool.stop();
  EXPECT_EQ(done, 3);
}

TEST(ThreadPool, ItsThreadsRunOnAllItsCpusWhateverTheirCreatorIsPinnedTo) {
  const std::vector<int> all = host::available_cpus();
  if (all.size() < 2) return;  // one CPU: nothing to inherit
  std::vector<int> seen;
  std::thread pinned([&] {
    host::pin_thread(std::vector{all.front()});
    ThreadPool<Job> pool({.threads = 1, .cpus = all}, [&](Job&) { seen = host::available_cpus(); });
    EXPECT_TRUE(pool.submit(std::make_unique<int>(1)));
    pool.stop();
  });
  pinned.join();
  EXPECT_EQ(seen, all);
}

TEST(ThreadPool, ReusesAnIdleThread) {
  std::atomic<int> runs{0};
  ThreadPool<Job> pool({.threads = 10}, [&](Job&) { ++runs; });
  for (int round = 0; round < 50; ++round) {
    ASSERT_TRUE(pool.submit(std::make_unique<int>(round)));
    while (runs.load() <= round || pool.in_use() > 0) std::this_thread::yield();
  }
  EXPECT_EQ(pool.threads(), 1U);
}

}  // namespace
}  // namespace heddle::waiting
