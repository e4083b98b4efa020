#include "loadgen/calibrate/arithmetic.hpp"

#include <algorithm>
#include <iterator>

namespace heddle::load {

double stall_quantile(double stall, double window, double utilisation, double q) {
  return std::max(0.0, stall - (1 - q) * window * (1 - utilisation));
}

CpuChoice choose_cpus(const std::vector<int>& available, const std::vector<int>& asked,
                      std::int64_t threads) {
  CpuChoice choice;
  const auto wanted = std::min(static_cast<std::size_t>(threads), available.size());
  choice.threads =
      asked.empty() ? std::vector<int>(available.begin(), available.begin() + std::ptrdiff_t(wanted)) : asked;
  std::copy_if(available.begin(), available.end(), std::back_inserter(choice.servers), [&](int cpu) {
    return std::find(choice.threads.begin(), choice.threads.end(), cpu) == choice.threads.end();
  });
  choice.shared = choice.servers.empty();
  if (choice.shared) choice.servers = available;
  return choice;
}

}  // namespace heddle::load
