#include "services/waiting/fiber_scheduler.hpp"

#include "services/waiting/fiber_waiting.hpp"
#include "services/waiting/io_threads.hpp"
#include "services/waiting/stack_arena.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/defer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/future/promise.hpp>
#include <boost/fiber/operations.hpp>
#include <gtest/gtest.h>

namespace heddle::waiting {
namespace {

using namespace std::chrono_literals;

// Runs `body` as the main fiber of a thread with the scheduler under test.
void on_fiber_thread(const std::function<void(boost::asio::io_context&)>& body) {
  IoThread loop(0);  // outlives the thread, whose scheduler uses it until the end
  std::thread thread([&] {
    boost::fibers::use_scheduling_algorithm<FiberScheduler>(loop.context());
    body(loop.context());
  });
  thread.join();
}

TEST(FiberScheduler, WakesSleepersInTheOrderOfTheirDeadlines) {
  std::vector<int> order;
  on_fiber_thread([&](auto&) {
    std::vector<boost::fibers::fiber> fibers;
    for (const int millis : {30, 10, 20}) {
      fibers.emplace_back([millis, &order] {
        suspend_for(std::chrono::milliseconds(millis));
        order.push_back(millis);
      });
    }
    for (auto& fiber : fibers) fiber.join();
  });
  EXPECT_EQ(order, (std::vector{10, 20, 30}));
}

TEST(FiberScheduler, NeverWakesASleeperEarly) {
  on_fiber_thread([](auto&) {
    for (int round = 0; round < 20; ++round) {
      const auto before = std::chrono::steady_clock::now();
      suspend_for(3ms);
      EXPECT_GE(std::chrono::steady_clock::now() - before, 3ms);
    }
  });
}

TEST(FiberScheduler, RunsHandlersPostedAndDeferredFromAFiber) {
  std::vector<std::string> ran;
  on_fiber_thread([&](boost::asio::io_context& context) {
    boost::fibers::promise<void> both;
    boost::fibers::fiber([&] {
      boost::asio::post(context, [&] { ran.emplace_back("post"); });
      boost::asio::defer(context, [&] {
        ran.emplace_back("defer");
        both.set_value();
      });
    }).join();
    both.get_future().wait();
  });
  EXPECT_EQ(ran, (std::vector<std::string>{"post", "defer"}));
}

TEST(FiberScheduler, WakesForAPromiseSetByAnotherThread) {
  on_fiber_thread([](auto&) {
    boost::fibers::promise<int> promise;
    auto future = promise.get_future();
    std::thread other([&] { promise.set_value(42); });
    EXPECT_EQ(future.get(), 42);
    other.join();
  });
}

TEST(FiberScheduler, StartsFibersFromHandlersOnArenaStacks) {
  StackArena arena(64 * 1024, StackArena::Guard::page);
  int finished = 0;
  on_fiber_thread([&](boost::asio::io_context& context) {
    boost::fibers::promise<void> all;
    for (int index = 0; index < 100; ++index) {
      boost::asio::post(context, [&] {
        boost::fibers::fiber(boost::fibers::launch::post, std::allocator_arg, ArenaStacks(arena), [&] {
          suspend_for(5ms);
          if (++finished == 100) all.set_value();
        }).detach();
      });
    }
    all.get_future().wait();
  });
  EXPECT_EQ(finished, 100);
  EXPECT_EQ(arena.in_use(), 0U) << "every stack came back";
}

TEST(AwaitInFiber, GivesTheResultOfAnOperation) {
  on_fiber_thread([](boost::asio::io_context& context) {
    boost::fibers::fiber([&] {
      boost::asio::steady_timer timer(context, 1ms);
      EXPECT_FALSE(await_in_fiber([&](auto handler) { timer.async_wait(handler); }).error);
      timer.expires_after(1h);
      boost::asio::post(context, [&] { timer.cancel(); });
      EXPECT_EQ(await_in_fiber([&](auto handler) { timer.async_wait(handler); }).error,
                boost::asio::error::operation_aborted);
    }).join();
  });
}

}  // namespace
}  // namespace heddle::waiting
