// Stacks for fibers: one reserved address range, a free list outside the stacks.
#pragma once

#include <cstddef>
#include <vector>

#include <boost/context/stack_context.hpp>

namespace heddle::waiting {

// Not thread-safe: one arena per I/O thread, and fibers never migrate. Stacks are page-aligned slices of
// large mappings; a freed stack keeps its touched pages for the next fiber, newest first. Keeping the free
// list outside avoids touching the cold end of a stack (measured: 13.9 KiB instead of 20 KiB resident per
// parked request against Boost's pooled_fixedsize_stack). Huge pages are declined: one would make a
// 2 MiB page resident for the first byte of the first of its stacks.
class StackArena {
 public:
  enum class Guard {
    none,  // no guard page: two mappings per guarded stack would hit vm.max_map_count at 32,000 fibers
    page,  // the lowest page of each stack faults on overflow; for tests
  };

  StackArena(std::size_t stack_bytes, Guard guard);
  StackArena(const StackArena&) = delete;
  StackArena& operator=(const StackArena&) = delete;
  ~StackArena();  // every stack must have been returned

  // Throws std::bad_alloc when the address space is exhausted.
  [[nodiscard]] boost::context::stack_context allocate();
  void deallocate(boost::context::stack_context& stack) noexcept;

  [[nodiscard]] std::size_t stack_bytes() const { return stack_bytes_; }
  [[nodiscard]] std::size_t in_use() const { return slabs_.size() * kStacksPerSlab - free_.size(); }

 private:
  static constexpr std::size_t kStacksPerSlab = 256;

  void add_slab();

  std::size_t stack_bytes_;  // rounded up to whole pages
  Guard guard_;
  std::vector<std::byte*> slabs_;
  std::vector<std::byte*> free_;  // lowest address of each free stack
};

// What boost::fibers::fiber takes as its stack allocator.
class ArenaStacks {
 public:
  explicit ArenaStacks(StackArena& arena) : arena_(&arena) {}
  boost::context::stack_context allocate() { return arena_->allocate(); }
  void deallocate(boost::context::stack_context& stack) noexcept { arena_->deallocate(stack); }

 private:
  StackArena* arena_;
};

}  // namespace heddle::waiting
