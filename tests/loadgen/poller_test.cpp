#include "loadgen/engine/poller.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <system_error>
#include <thread>

#include <gtest/gtest.h>

namespace heddle::engine {
namespace {

// Open descriptors of this process, and the one that counts them.
std::ptrdiff_t descriptors() {
  return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, {});
}

// Lets `call` end with `error` from now on, for this thread alone (seccomp(2)). False when the kernel
// refuses.
bool deny(std::uint32_t call, std::uint32_t error) {
  std::array<sock_filter, 4> filter{{
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, call},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | error},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  }};
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// What the constructor throws while `call` ends with `error`; 0 = nothing, -1 = the call cannot be denied.
int error_while_denied(std::uint32_t call, int error) {
  int thrown = 0;
  std::thread{[&] {
    if (!deny(call, static_cast<std::uint32_t>(error))) {
      thrown = -1;
      return;
    }
    try {
      const Poller poller;
    } catch (const std::system_error& problem) {
      thrown = problem.code().value();
    }
  }}.join();
  return thrown;
}

TEST(Poller, AFailureIsToldAndLeavesNoDescriptorOpen) {
  const auto before = descriptors();
  EXPECT_EQ(error_while_denied(SYS_epoll_create1, EMFILE), EMFILE);
  EXPECT_EQ(error_while_denied(SYS_eventfd2, ENFILE), ENFILE);
  EXPECT_EQ(error_while_denied(SYS_epoll_ctl, ENOSPC), ENOSPC);
  EXPECT_EQ(descriptors(), before);
}

TEST(Poller, AWakeUpEndsAWaitAndIsNoEvent) {
  Poller poller;
  for (int i = 0; i < 3; ++i) {
    poller.wake();
    EXPECT_TRUE(poller.wait(monotonic_now() + 3'600 * plan::kSecond).empty());
  }
}

}  // namespace
}  // namespace heddle::engine
