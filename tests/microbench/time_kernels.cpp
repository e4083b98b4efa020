// Google Benchmark's view of the kernels: time per operation. Its own options apply (--benchmark_filter,
// ...).
#include "tests/microbench/kernel.hpp"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <string>

namespace {

using namespace heddle::microbench;

// So many operations between two looks at the clock's counter; the virtual call then costs nothing.
constexpr std::int64_t kBatch = 64;

void time_kernel(benchmark::State& state, const NamedKernel& kernel) {
  const auto made = kernel.make();
  while (state.KeepRunningBatch(kBatch)) made->run(kBatch);
}

}  // namespace

int main(int argc, char** argv) {
  for (const auto& kernel : all_kernels()) {
    benchmark::RegisterBenchmark(std::string{kernel.name}.c_str(),
                                 [&kernel](benchmark::State& state) { time_kernel(state, kernel); });
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
