#include "services/waiting/fault.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>

namespace heddle::waiting {

void report_fault(std::string_view where, std::string_view what) noexcept {
  using std::chrono::steady_clock;
  static std::atomic<steady_clock::rep> last{0};
  const auto now = steady_clock::now().time_since_epoch().count();
  auto before = last.load(std::memory_order_relaxed);
  const auto second = steady_clock::duration(std::chrono::seconds(1)).count();
  if (before != 0 && now - before < second) return;
  if (!last.compare_exchange_strong(before, now, std::memory_order_relaxed)) return;
  std::fprintf(stderr, "heddle-service: error: unexpected exception in %.*s: %.*s\n",
               static_cast<int>(where.size()), where.data(), static_cast<int>(what.size()), what.data());
}

}  // namespace heddle::waiting
