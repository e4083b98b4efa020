#include "services/waiting/stack_arena.hpp"

#include <cstdint>
#include <cstring>
#include <set>
#include <signal.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

namespace heddle::waiting {
namespace {

std::byte* lowest(const boost::context::stack_context& stack) {
  return static_cast<std::byte*>(stack.sp) - stack.size;
}

TEST(StackArena, HandsOutDisjointPageAlignedStacks) {
  StackArena arena(32 * 1024, StackArena::Guard::none);
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  std::vector<boost::context::stack_context> stacks;
  std::set<std::byte*> bases;
  for (int index = 0; index < 600; ++index) {  // more than two slabs
    stacks.push_back(arena.allocate());
    EXPECT_EQ(stacks.back().size, 32U * 1024);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(stacks.back().sp) % page, 0U);
    bases.insert(lowest(stacks.back()));
  }
  ASSERT_EQ(bases.size(), 600U);
  std::byte* previous = nullptr;
  for (std::byte* base : bases) {
    if (previous != nullptr) {
      EXPECT_GE(base - previous, 32 * 1024);
    }
    previous = base;
  }
  for (auto& stack : stacks) {
    std::memset(lowest(stack), 0x5a, stack.size);  // all of it is writable
    arena.deallocate(stack);
  }
  EXPECT_EQ(arena.in_use(), 0U);
}

TEST(StackArena, GivesBackTheStackFreedLast) {
  StackArena arena(64 * 1024, StackArena::Guard::none);
  auto first = arena.allocate();
  auto second = arena.allocate();
  void* const warm = second.sp;
  arena.deallocate(first);
  arena.deallocate(second);
  EXPECT_EQ(arena.allocate().sp, warm);
}

TEST(StackArena, RoundsUpToWholePages) {
  StackArena arena(33 * 1024, StackArena::Guard::none);
  EXPECT_EQ(arena.stack_bytes() % static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), 0U);
  EXPECT_GE(arena.stack_bytes(), 33U * 1024);
}

TEST(StackArenaDeathTest, AGuardedStackFaultsOnOverflow) {
  StackArena arena(32 * 1024, StackArena::Guard::page);
  const auto stack = arena.allocate();
  std::byte* usable = lowest(stack) + sysconf(_SC_PAGESIZE);
  *usable = std::byte{1};
  EXPECT_EXIT(*reinterpret_cast<volatile char*>(usable - 1) = 1, testing::KilledBySignal(SIGSEGV), "");
}

}  // namespace
}  // namespace heddle::waiting
