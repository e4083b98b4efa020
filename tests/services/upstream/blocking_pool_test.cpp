#include "services/upstream/blocking_pool.hpp"

#include "services/upstream/thread_client.hpp"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace heddle::upstream {
namespace {

struct FakeConnection {
  int number = 0;
  bool closed = false;
  void close() { closed = true; }
};

class BlockingPoolTest : public testing::Test {
 protected:
  using Pool = BlockingPool<FakeConnection, ThreadSync>;

  static ClientOptions options(std::size_t connections, std::size_t pending) {
    ClientOptions options;
    options.connections = connections;
    options.pending = pending;
    options.pending_timeout = std::chrono::milliseconds(20);
    return options;
  }

  std::unique_ptr<FakeConnection> make() {
    return std::make_unique<FakeConnection>(FakeConnection{++made_, false});
  }

  ClientCounters counters_;
  int made_ = 0;
};

TEST_F(BlockingPoolTest, HandsOutTheConnectionUsedLastFirst) {
  Pool pool(options(3, 0), counters_, [this] { return make(); });
  auto first = pool.acquire();
  auto second = pool.acquire();
  EXPECT_FALSE(first.reused);
  EXPECT_EQ(counters_.connections_open, 2U);
  pool.release(std::move(first.connection));
  pool.release(std::move(second.connection));
  auto again = pool.acquire();
  EXPECT_TRUE(again.reused);
  EXPECT_EQ(again.connection->number, 2);
  EXPECT_EQ(made_, 2);
}

TEST_F(BlockingPoolTest, RefusesAtOnceWhenTooManyWaitAndInTimeOtherwise) {
  Pool none(options(1, 0), counters_, [this] { return make(); });
  auto only = none.acquire();
  EXPECT_EQ(none.acquire().failure, Failure::pool_full);

  Pool one(options(1, 1), counters_, [this] { return make(); });
  auto held = one.acquire();
  EXPECT_EQ(one.acquire().failure, Failure::pool_timeout);
  EXPECT_EQ(counters_.waiting, 0U);
}

TEST_F(BlockingPoolTest, AWaiterGetsWhatIsReleasedOrDiscarded) {
  ClientOptions patient = options(1, 5);
  patient.pending_timeout = std::chrono::seconds(20);
  Pool pool(patient, counters_, [this] { return make(); });
  for (const bool broken : {false, true}) {
    auto held = pool.acquire();
    std::thread other([&] {
      while (counters_.waiting == 0) std::this_thread::yield();
      broken ? pool.discard(std::move(held.connection)) : pool.release(std::move(held.connection));
    });
    auto got = pool.acquire();
    other.join();
    ASSERT_NE(got.connection, nullptr);
    EXPECT_EQ(got.reused, !broken);
    EXPECT_EQ(counters_.connections_open, 1U);
    pool.release(std::move(got.connection));
  }
}

TEST_F(BlockingPoolTest, ServesWaitersInTheirOrderAndNewcomersBehindThem) {
  ClientOptions patient = options(1, 10);
  patient.pending_timeout = std::chrono::seconds(20);
  Pool pool(patient, counters_, [this] { return make(); });
  auto held = pool.acquire();
  std::vector<int> order;  // written one at a time: by whoever holds the only connection
  std::vector<std::thread> waiters;
  for (int index = 0; index < 5; ++index) {
    waiters.emplace_back([&, index] {
      auto got = pool.acquire();
      order.push_back(index);
      pool.release(std::move(got.connection));
    });
    while (counters_.waiting <= static_cast<std::uint64_t>(index)) std::this_thread::yield();
  }
  pool.release(std::move(held.connection));
  auto newcomer = pool.acquire();
  order.push_back(99);
  pool.release(std::move(newcomer.connection));
  for (auto& waiter : waiters) waiter.join();
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4, 99}));
}

TEST_F(BlockingPoolTest, AnIdleConnectionTooOldIsReconnected) {
  ClientOptions impatient = options(1, 0);
  impatient.idle_limit = std::chrono::milliseconds(0);
  Pool pool(impatient, counters_, [this] { return make(); });
  pool.release(pool.acquire().connection);
  auto again = pool.acquire();
  EXPECT_FALSE(again.reused);
  EXPECT_TRUE(again.connection->closed);
  EXPECT_EQ(counters_.connections_open, 1U);
}

}  // namespace
}  // namespace heddle::upstream
