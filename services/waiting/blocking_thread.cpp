#include "services/waiting/blocking_thread.hpp"

#include <cerrno>
#include <memory>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

namespace heddle::waiting {

namespace {

void* run_body(void* argument) {
  // Timer descriptors, which the event loops wait on, have no slack; a sleeping thread has 50 us by default.
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  const std::unique_ptr<std::function<void()>> body(static_cast<std::function<void()>*>(argument));
  (*body)();
  return nullptr;
}

}  // namespace

bool start_blocking_thread(std::size_t stack_bytes, std::function<void()> body) {
  auto owned = std::make_unique<std::function<void()>>(std::move(body));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sigset_t all;
  sigfillset(&all);
  pthread_attr_setsigmask_np(&attributes, &all);
  pthread_t thread{};
  const int error = pthread_create(&thread, &attributes, run_body, owned.get());
  pthread_attr_destroy(&attributes);
  if (error != 0) return false;
  static_cast<void>(owned.release());  // run_body owns it now
  return true;
}

void block_for(std::chrono::nanoseconds duration) {
  timespec deadline{};
  clock_gettime(CLOCK_MONOTONIC, &deadline);
  const auto nanos = deadline.tv_nsec + duration.count();
  deadline.tv_sec += nanos / 1'000'000'000;
  deadline.tv_nsec = nanos % 1'000'000'000;
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr) == EINTR) {
  }
}

}  // namespace heddle::waiting
