#include "loadgen/calibrate/null_server.hpp"

#include "host-tuning/cpus.hpp"
#include "host-tuning/limits.hpp"
#include "loadgen/report/text.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <new>
#include <string_view>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

namespace heddle::load {

using engine::Nanos;

// Lies in memory that both processes see; lock-free atomics work across them.
struct NullServer::Shared {
  std::atomic<Nanos> stall_at{0};  // 0 = none
  std::atomic<Nanos> stall_length{0};
  std::atomic<Nanos> began{0};
  std::atomic<Nanos> ended{0};  // 0 = none is over
  std::atomic<std::int64_t> answered{0};
  std::atomic<int> error{0};
  static_assert(std::atomic<Nanos>::is_always_lock_free && std::atomic<int>::is_always_lock_free);
};

namespace {

constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nnull server\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";
// Any pile of requests that fits into one read; with one request on the wire it is one.
constexpr std::size_t kReadBytes = 16 * 1024;
// The kernel cuts it to net.core.somaxconn; an accept burst of thousands overflows anyway and comes again.
constexpr int kBacklog = 4096;
constexpr int kEvents = 64;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

int listen_anywhere(std::uint16_t& port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) fail("null server: socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // what is accepted inherits it
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(fd, kBacklog) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    const int error = errno;
    close(fd);
    throw std::system_error(error, std::generic_category(), "null server: cannot listen on 127.0.0.1");
  }
  port = ntohs(address.sin_port);
  return fd;
}

}  // namespace

// The child's life.
class NullServer::Loop {
 public:
  Loop(int listener, int wake, Shared& shared)
      : listener_{listener}, wake_{wake}, epoll_{epoll_create1(EPOLL_CLOEXEC)}, shared_{shared} {
    if (epoll_ < 0) fail("epoll_create1");
    add(listener);
    add(wake, EPOLLET);  // each write is a new edge, so it need not be read
  }

  [[noreturn]] void run() {
    for (;;) {
      const Nanos until = stall_when_due();
      const auto pause = engine::as_timespec(std::max<Nanos>(0, until - engine::monotonic_now()));
      const int found = epoll_pwait2(epoll_, events_.data(), kEvents, &pause, nullptr);
      for (int i = 0; i < found; ++i) {
        const int fd = events_[static_cast<std::size_t>(i)].data.fd;
        if (fd == listener_) {
          accept_some();
        } else if (fd != wake_) {
          serve(fd);
        }
      }
    }
  }

 private:
  void add(int fd, std::uint32_t flags = 0) const {
    epoll_event event{};
    event.events = EPOLLIN | flags;
    event.data.fd = fd;
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) fail("epoll_ctl");
  }

  // Returns when the next stall is due.
  [[nodiscard]] Nanos stall_when_due() {
    const Nanos at = shared_.stall_at.load(std::memory_order_acquire);
    if (at == 0) return engine::kNever;
    const Nanos now = engine::monotonic_now();
    if (now < at) return at;
    const Nanos end = now + shared_.stall_length.load();
    const auto wake_at = engine::as_timespec(end);
    while (engine::monotonic_now() < end) {
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake_at, nullptr);
    }
    shared_.stall_at.store(0);
    shared_.began.store(now);
    shared_.ended.store(engine::monotonic_now(), std::memory_order_release);
    return engine::kNever;
  }

  // Few at once: those that are connected get their answers meanwhile.
  void accept_some() {
    for (int i = 0; i < kEvents; ++i) {
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0) {
        if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) return;
        // Ready for ever and never served: the listener would spin.
        shared_.error.store(errno);
        epoll_ctl(epoll_, EPOLL_CTL_DEL, listener_, nullptr);
        return;
      }
      if (matched_.size() <= static_cast<std::size_t>(fd)) matched_.resize(static_cast<std::size_t>(fd) + 1);
      matched_[static_cast<std::size_t>(fd)] = 0;
      add(fd);
    }
  }

  // `matched_` keeps how much of the empty line at a head's end has come, so a head may come in pieces.
  void serve(int fd) {
    const auto count = recv(fd, buffer_.data(), buffer_.size(), 0);
    if (count <= 0) {
      if (count == 0 || (errno != EAGAIN && errno != EINTR)) close(fd);
      return;
    }
    auto& matched = matched_[static_cast<std::size_t>(fd)];
    for (const char c : std::string_view{buffer_.data(), static_cast<std::size_t>(count)}) {
      if (c == kHeadEnd[matched]) {
        ++matched;
      } else {
        matched = c == '\r' ? 1 : 0;
      }
      if (matched < kHeadEnd.size()) continue;
      matched = 0;
      if (!answer(fd)) return;
    }
  }

  [[nodiscard]] bool answer(int fd) {
    shared_.answered.store(++answered_, std::memory_order_relaxed);  // before its client can look
    const auto sent = ::send(fd, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);
    if (sent == static_cast<ssize_t>(kAnswer.size())) return true;
    close(fd);  // a peer that lets its answers pile up is none that this server is for
    return false;
  }

  int listener_;
  int wake_;
  int epoll_;
  Shared& shared_;
  std::int64_t answered_ = 0;
  std::vector<std::uint8_t> matched_;  // by descriptor
  std::array<char, kReadBytes> buffer_{};
  std::array<epoll_event, kEvents> events_{};
};

NullServer::NullServer(std::optional<int> cpu) : listener_{listen_anywhere(port_)} {
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    close(listener_);
    fail("null server: mmap");
  }
  shared_ = new (memory) Shared;
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  const pid_t parent = getpid();
  child_ = wake_ < 0 ? -1 : fork();
  if (child_ < 0) {
    const int error = errno;
    if (wake_ >= 0) close(wake_);
    munmap(memory, sizeof(Shared));
    close(listener_);
    throw std::system_error(error, std::generic_category(), "null server: fork");
  }
  if (child_ == 0) {
    try {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(1);  // it died before the line above
      if (cpu) host::pin_thread(std::array{*cpu});
      host::raise_descriptor_limit();
      Loop{listener_, wake_, *shared_}.run();
    } catch (const std::exception& error) {
      report::to_stderr(fmt::format("heddle-load: the null server failed: {}\n", error.what()));
      _exit(1);
    }
  }
  close(listener_);  // the child's alone now: when it dies, connecting is refused
  listener_ = -1;
}

NullServer::~NullServer() {
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
  close(wake_);
  munmap(shared_, sizeof(Shared));
}

std::string NullServer::url() const {
  return fmt::format("http://127.0.0.1:{}/", port_);
}

void NullServer::stall(Nanos at, Nanos length) {
  shared_->ended.store(0);
  shared_->stall_length.store(length);
  shared_->stall_at.store(at, std::memory_order_release);
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(wake_, &one, sizeof one);
}

std::optional<StallLog> NullServer::last_stall() const {
  const Nanos ended = shared_->ended.load(std::memory_order_acquire);
  if (ended == 0) return std::nullopt;
  return StallLog{shared_->began.load(), ended};
}

std::int64_t NullServer::answered() const {
  return shared_->answered.load(std::memory_order_relaxed);
}

std::string NullServer::problem() const {
  const int error = shared_->error.load();
  if (error == 0) return {};
  return fmt::format("the null server cannot take more connections: {}", strerrordesc_np(error));
}

}  // namespace heddle::load
