#include "services/metrics/process_sample.hpp"

#include "services/metrics/allocations.hpp"

#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace heddle::metrics {
namespace {

constexpr std::uint64_t kMiB = 1024 * 1024;

TEST(ProcessSample, SeesMemoryThatIsTouched) {
  const ProcessSampler sampler;
  const ProcessSample before = sampler.sample();
  std::vector<char> block(64 * kMiB, 'x');
  const ProcessSample after = sampler.sample();
  EXPECT_GE(after.heap_allocated_bytes, before.heap_allocated_bytes + 64 * kMiB);
  EXPECT_GE(after.rss_bytes, before.rss_bytes + 60 * kMiB);
  EXPECT_LE(after.rss_bytes, before.rss_bytes + 80 * kMiB) << "is the page size right?";
  EXPECT_GT(after.minor_faults, before.minor_faults);
  EXPECT_EQ(block.back(), 'x');
}

TEST(ProcessSample, CountsThreads) {
  const ProcessSampler sampler;
  const std::uint64_t before = sampler.sample().threads;
  std::uint64_t during = 0;
  std::thread([&] { during = sampler.sample().threads; }).join();
  EXPECT_EQ(during, before + 1);
}

TEST(ProcessSample, CpuTimeGrowsWithWork) {
  const ProcessSampler sampler;
  const ProcessSample before = sampler.sample();
  ProcessSample after = before;
  while (after.cpu_user_micros + after.cpu_system_micros <
         before.cpu_user_micros + before.cpu_system_micros + 20'000) {
    after = sampler.sample();
  }
  // One thread works: no more CPU time than time, with a scheduler tick to spare.
  EXPECT_GE(after.monotonic_nanos - before.monotonic_nanos, 20'000'000 - 10'000'000);
}

TEST(ProcessSample, CountsVoluntarySwitches) {
  const ProcessSampler sampler;
  const ProcessSample before = sampler.sample();
  for (int i = 0; i < 10; ++i) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  EXPECT_GE(sampler.sample().voluntary_switches, before.voluntary_switches + 10);
}

TEST(ProcessSample, StampsAreNow) {
  const auto earlier = std::chrono::steady_clock::now().time_since_epoch();
  const ProcessSample sample = ProcessSampler().sample();
  const auto later = std::chrono::steady_clock::now().time_since_epoch();
  EXPECT_GE(sample.monotonic_nanos, std::chrono::nanoseconds(earlier).count());
  EXPECT_LE(sample.monotonic_nanos, std::chrono::nanoseconds(later).count());
  EXPECT_GT(sample.epoch_millis, 1'600'000'000'000);
}

// `operator new` by name: a new-expression may be optimised away.
TEST(Allocations, CountsOperatorNewInBatches) {
  const std::uint64_t before = allocations();
  std::vector<void*> blocks(100 * kAllocationBatch);
  for (void*& block : blocks) block = ::operator new(16);
  const std::uint64_t counted = allocations() - before;
  for (void* block : blocks) ::operator delete(block);
  EXPECT_GE(counted, blocks.size() - kAllocationBatch);
  EXPECT_LE(counted, blocks.size() + 2 * kAllocationBatch);
}

TEST(Allocations, AlignedMemoryIsAligned) {
  for (const std::size_t alignment : {std::size_t{32}, std::size_t{64}, std::size_t{4096}}) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, alignment + 1}) {
      void* block = ::operator new(bytes, std::align_val_t{alignment});
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignment, 0U);
      std::memset(block, 1, bytes);
      ::operator delete(block, std::align_val_t{alignment});
    }
  }
}

TEST(Allocations, ExhaustionThrows) {
  constexpr std::size_t kTooMuch = std::size_t{1} << 62U;
  EXPECT_THROW(::operator delete(::operator new(kTooMuch)), std::bad_alloc);
  EXPECT_EQ(::operator new(kTooMuch, std::nothrow), nullptr);
}

}  // namespace
}  // namespace heddle::metrics
