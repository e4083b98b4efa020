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
  EXPECT_GE(after.heap_allocated_bytes, before.heap_allocated_bytes + 64 * kMiB - 2 * kBatchBytes);
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

// operator new by its name: a new-expression may be optimised away.
TEST(Allocations, CountsCallsAndBytesInBatches) {
  constexpr std::size_t kBytes = 1000;
  std::vector<void*> blocks(100 * kBatchCalls);
  const Allocations before = allocations();
  for (void*& block : blocks) block = ::operator new(kBytes);
  const Allocations full = allocations();
  for (void* block : blocks) ::operator delete(block);
  const Allocations after = allocations();
  EXPECT_NEAR(static_cast<double>(full.count - before.count), static_cast<double>(blocks.size()),
              kBatchCalls);
  EXPECT_GE(full.bytes_in_use, before.bytes_in_use + blocks.size() * kBytes - 2 * kBatchBytes);
  EXPECT_LE(full.bytes_in_use, before.bytes_in_use + blocks.size() * (kBytes + 16) + 2 * kBatchBytes);
  EXPECT_NEAR(static_cast<double>(after.bytes_in_use), static_cast<double>(before.bytes_in_use),
              2 * kBatchBytes)
      << "both may miss a batch";
}

TEST(Allocations, ABlockMayBeDeletedByAnotherThread) {
  const Allocations before = allocations();
  void* block = ::operator new(8 * kMiB);
  EXPECT_GE(allocations().bytes_in_use, before.bytes_in_use + 8 * kMiB - 2 * kBatchBytes);
  std::thread([block] { ::operator delete(block); }).join();
  EXPECT_LE(allocations().bytes_in_use, before.bytes_in_use + kMiB);
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
