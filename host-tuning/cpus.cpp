#include "host-tuning/cpus.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

namespace heddle::host {
namespace {

// glibc's fixed cpu_set_t holds 1,024 CPUs; Debian's kernels are built for 8,192 (CONFIG_NR_CPUS).
constexpr int kMaxCpus = 8192;

// A CPU set large enough for any kernel, freed by itself.
class CpuSet {
 public:
  CpuSet() : set_(CPU_ALLOC(kMaxCpus)) {
    if (set_ == nullptr) throw std::bad_alloc();
    CPU_ZERO_S(bytes(), set_);
  }
  ~CpuSet() { CPU_FREE(set_); }
  CpuSet(const CpuSet&) = delete;
  CpuSet& operator=(const CpuSet&) = delete;

  [[nodiscard]] static std::size_t bytes() { return CPU_ALLOC_SIZE(kMaxCpus); }
  [[nodiscard]] cpu_set_t* get() { return set_; }
  void add(int cpu) { CPU_SET_S(static_cast<std::size_t>(cpu), bytes(), set_); }
  [[nodiscard]] bool has(int cpu) const { return CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes(), set_); }

 private:
  cpu_set_t* set_;
};

[[noreturn]] void refuse(std::string_view token, std::string_view list, std::string_view why) {
  throw std::invalid_argument(fmt::format(
      "CPU list \"{}\": found \"{}\", {}; accepted are numbers and ranges as in 0-3,5", list, token, why));
}

int parse_number(std::string_view digits, std::string_view token, std::string_view list) {
  int value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (digits.empty() || stop != end || error == std::errc::invalid_argument || digits.front() == '-') {
    refuse(token, list, "which is no CPU number or range");
  }
  if (error == std::errc::result_out_of_range || value >= kMaxCpus) {
    refuse(token, list, fmt::format("but the highest possible CPU is {}", kMaxCpus - 1));
  }
  return value;
}

void parse_token(std::string_view token, std::string_view list, std::vector<int>& cpus) {
  const std::size_t dash = token.find('-');
  const int first = parse_number(token.substr(0, dash), token, list);
  const int last = dash == std::string_view::npos ? first : parse_number(token.substr(dash + 1), token, list);
  if (last < first) refuse(token, list, "a range that runs backwards");
  for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
}

void pin_task(pid_t task, std::span<const int> cpus) {
  if (cpus.empty()) throw std::invalid_argument("cannot pin to an empty list of CPUs");
  CpuSet set;
  for (const int cpu : cpus) {
    if (cpu < 0 || cpu >= kMaxCpus) throw std::invalid_argument(fmt::format("there is no CPU {}", cpu));
    set.add(cpu);
  }
  if (sched_setaffinity(task, CpuSet::bytes(), set.get()) != 0) {
    const int reason = errno;
    throw std::system_error(reason, std::generic_category(),
                            fmt::format("cannot pin to CPUs {}; available are {}", format_cpu_list(cpus),
                                        format_cpu_list(available_cpus())));
  }
}

}  // namespace

std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  std::size_t start = 0;
  while (true) {
    const std::size_t comma = text.find(',', start);
    parse_token(text.substr(start, comma == std::string_view::npos ? comma : comma - start), text, cpus);
    if (comma == std::string_view::npos) break;
    start = comma + 1;
  }
  std::ranges::sort(cpus);
  const auto repeats = std::ranges::unique(cpus);
  cpus.erase(repeats.begin(), repeats.end());
  return cpus;
}

std::string format_cpu_list(std::span<const int> cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += last == i ? fmt::format("{}", cpus[i]) : fmt::format("{}-{}", cpus[i], cpus[last]);
    i = last + 1;
  }
  return text;
}

std::vector<int> available_cpus() {
  CpuSet set;
  if (sched_getaffinity(0, CpuSet::bytes(), set.get()) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot read the CPUs of this thread");
  }
  std::vector<int> cpus;
  for (int cpu = 0; cpu < kMaxCpus; ++cpu) {
    if (set.has(cpu)) cpus.push_back(cpu);
  }
  return cpus;
}

void pin_thread(std::span<const int> cpus) {
  pin_task(0, cpus);
}

void pin_process(std::span<const int> cpus) {
  pin_task(0, cpus);  // first this thread: threads that it starts from now on inherit the set
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    try {
      pin_task(static_cast<pid_t>(std::stol(entry.path().filename().string())), cpus);
    } catch (const std::system_error& error) {
      if (error.code() != std::errc::no_such_process) throw;  // a thread that ended meanwhile needs no pin
    }
  }
}

}  // namespace heddle::host
