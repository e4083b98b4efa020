#include "services/waiting/stack_arena.hpp"

#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace heddle::waiting {

namespace {

std::size_t page_bytes() {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

}  // namespace

StackArena::StackArena(std::size_t stack_bytes, Guard guard)
    : stack_bytes_((stack_bytes + page_bytes() - 1) / page_bytes() * page_bytes()), guard_(guard) {
  if (guard_ == Guard::page) stack_bytes_ += page_bytes();
}

StackArena::~StackArena() {
  for (std::byte* slab : slabs_) munmap(slab, kStacksPerSlab * stack_bytes_);
}

void StackArena::add_slab() {
  const std::size_t bytes = kStacksPerSlab * stack_bytes_;
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  madvise(memory, bytes, MADV_NOHUGEPAGE);  // refused where the kernel has no huge pages: then none is needed
  auto* base = static_cast<std::byte*>(memory);
  slabs_.push_back(base);
  free_.reserve(slabs_.size() * kStacksPerSlab);  // so that deallocate() never allocates
  for (std::size_t index = kStacksPerSlab; index-- > 0;) {
    std::byte* stack = base + index * stack_bytes_;
    if (guard_ == Guard::page && mprotect(stack, page_bytes(), PROT_NONE) != 0) throw std::bad_alloc();
    free_.push_back(stack);
  }
}

boost::context::stack_context StackArena::allocate() {
  if (free_.empty()) add_slab();
  std::byte* lowest = free_.back();
  free_.pop_back();
  boost::context::stack_context stack;
  stack.size = stack_bytes_;
  stack.sp = lowest + stack_bytes_;  // stacks grow downwards
  return stack;
}

void StackArena::deallocate(boost::context::stack_context& stack) noexcept {
  free_.push_back(static_cast<std::byte*>(stack.sp) - stack.size);
}

}  // namespace heddle::waiting
