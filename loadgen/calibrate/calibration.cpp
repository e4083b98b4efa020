#include "loadgen/calibrate/calibration.hpp"

#include "host-tuning/cpus.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string_view>
#include <sys/utsname.h>

namespace heddle::load {
namespace {

// ARM kernels have no "model name" but a "CPU part".
std::string cpu_model() {
  std::ifstream in{"/proc/cpuinfo"};
  for (std::string line; std::getline(in, line);) {
    const bool names_it =
        line.starts_with("model name") || line.starts_with("Model") || line.starts_with("CPU part");
    const auto colon = line.find(':');
    if (!names_it || colon == std::string::npos) continue;
    const auto start = line.find_first_not_of(' ', colon + 1);
    if (start != std::string::npos) return line.substr(start);
  }
  return "unknown";
}

}  // namespace

HostId this_host() {
  utsname names{};
  const bool known = uname(&names) == 0;
  return {cpu_model(), known ? std::string{names.release} : "unknown",
          static_cast<int>(host::available_cpus().size())};
}

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto middle = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {median, values.front(), values.back()};
}

bool StallCheck::due_passed() const {
  return due_millis && std::abs(*due_millis - expected_due_millis) <= tolerance_millis;
}

bool StallCheck::sent_passed() const {
  return sent_millis && *sent_millis <= most_sent_millis;
}

}  // namespace heddle::load
