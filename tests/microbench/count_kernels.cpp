// Runs one kernel a given number of times, for a tool that counts instructions from outside, and prints how
// often it allocated memory meanwhile.
//
//   usage: count-kernels NAME TIMES      (TIMES 0: only what comes before and after the operations)
//          count-kernels --list
//          count-kernels --check        (exit code 1 when an operation that is done per request allocates)
#include "tests/microbench/counting_malloc.hpp"
#include "tests/microbench/kernel.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string_view>

namespace {

using namespace heddle::microbench;

int usage() {
  std::fputs("usage: count-kernels NAME TIMES | --list | --check\n", stderr);
  return 2;
}

std::int64_t allocations_of(const NamedKernel& named, std::int64_t times) {
  const auto kernel = named.make();
  kernel->run(1);  // what is made at the first use only
  const auto before = allocations();
  kernel->run(times);
  return allocations() - before;
}

int list() {
  for (const auto& kernel : all_kernels()) std::printf("%s\n", kernel.name.data());
  return 0;
}

int check() {
  int found = 0;
  for (const auto& kernel : all_kernels()) {
    if (!kernel.per_request) continue;
    const auto counted = allocations_of(kernel, 1000);
    if (counted == 0) continue;
    std::printf("%s: %lld allocations in 1000 operations\n", kernel.name.data(),
                static_cast<long long>(counted));
    found = 1;
  }
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name{argc > 1 ? argv[1] : ""};
  if (argc == 2 && name == "--list") return list();
  if (argc == 2 && name == "--check") return check();
  if (argc != 3) return usage();
  const auto& kernels = all_kernels();
  const auto found = std::find_if(kernels.begin(), kernels.end(),
                                  [name](const NamedKernel& kernel) { return kernel.name == name; });
  const std::string_view text{argv[2]};
  std::int64_t times = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), times);
  if (found == kernels.end() || error != std::errc{} || end != text.data() + text.size() || times < 0) {
    return usage();
  }
  std::printf("%lld\n", static_cast<long long>(allocations_of(*found, times)));
  return 0;
}
