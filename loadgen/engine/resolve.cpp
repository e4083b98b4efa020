#include "loadgen/engine/resolve.hpp"

#include "loadgen/engine/clock.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <netdb.h>
#include <poll.h>
#include <stdexcept>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

namespace heddle::engine {
namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

// Empty with the resolver's code in `error`.
AddressList ask(const char* host, const char* port, int flags, int& error) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  error = getaddrinfo(host, port, &hints, &found);
  return {error == 0 ? found : nullptr, &freeaddrinfo};
}

std::string reason(int error) {
  return error == EAI_SYSTEM ? std::generic_category().message(errno) : gai_strerror(error);
}

// What became of an attempt that poll() reported.
int outcome(int fd) {
  int error = 0;
  socklen_t size = sizeof error;
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

// Descriptors with their answer still to come; closes what is left.
class Attempts {
 public:
  explicit Attempts(const std::vector<Address>& addresses) : errors_(addresses.size(), ETIMEDOUT) {
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      const auto opened = start_connect(addresses[i], nullptr, {});
      polls_.push_back({opened.fd, POLLOUT, 0});
      if (opened.fd < 0) errors_[i] = opened.error;
    }
  }
  ~Attempts() {
    for (const auto& entry : polls_) {
      if (entry.fd >= 0) close(entry.fd);
    }
  }
  Attempts(const Attempts&) = delete;
  Attempts& operator=(const Attempts&) = delete;

  [[nodiscard]] bool pending() const {
    return std::any_of(polls_.begin(), polls_.end(), [](const pollfd& entry) { return entry.fd >= 0; });
  }
  void wait(Nanos time) {
    const auto millis = static_cast<int>((time + plan::kMillisecond - 1) / plan::kMillisecond);
    if (poll(polls_.data(), polls_.size(), millis) <= 0) return;
    for (std::size_t i = 0; i < polls_.size(); ++i) {
      auto& entry = polls_[i];
      if (entry.fd < 0 || entry.revents == 0) continue;
      errors_[i] = outcome(entry.fd);
      close(entry.fd);
      entry.fd = -1;  // poll() passes over negative ones
    }
  }
  [[nodiscard]] const std::vector<int>& errors() const { return errors_; }

 private:
  std::vector<int> errors_;
  std::vector<pollfd> polls_;
};

}  // namespace

std::vector<Address> resolve_all(const plan::Url& url) {
  if (!url.socket_path.empty()) return {unix_address(url.socket_path)};
  int error = 0;
  const auto found = ask(url.host.c_str(), std::to_string(url.port).c_str(), AI_NUMERICSERV, error);
  if (found == nullptr) {
    throw std::runtime_error(fmt::format("cannot resolve '{}': {}", url.host, reason(error)));
  }
  std::vector<Address> answers;
  for (const auto* entry = found.get(); entry != nullptr; entry = entry->ai_next) {
    if (entry->ai_family != AF_INET && entry->ai_family != AF_INET6) continue;
    auto answer = make_address(entry->ai_addr, entry->ai_addrlen, true);
    const auto is_it = [&](const Address& known) { return same_address(known, answer); };
    if (std::none_of(answers.begin(), answers.end(), is_it)) answers.push_back(std::move(answer));
  }
  if (answers.empty()) throw std::runtime_error(fmt::format("cannot resolve '{}': no address", url.host));
  std::stable_partition(answers.begin(), answers.end(),
                        [](const Address& answer) { return answer.family() == AF_INET; });
  return answers;
}

Address source_address(const std::string& text) {
  int error = 0;
  const auto found = ask(text.c_str(), nullptr, AI_NUMERICHOST, error);
  // getaddrinfo() also takes the short forms of inet_aton(3), such as 127.1.
  const bool literal = std::count(text.begin(), text.end(), '.') == 3 || text.find(':') != std::string::npos;
  if (found == nullptr || !literal) {
    throw std::invalid_argument(
        fmt::format("sourceAddresses: found '{}', accepted: an IPv4 or IPv6 address", text));
  }
  return make_address(found->ai_addr, found->ai_addrlen, false);
}

std::vector<int> try_connect(const std::vector<Address>& addresses, plan::Nanos limit) {
  Attempts attempts{addresses};
  const Nanos end = monotonic_now() + limit;
  for (Nanos now = monotonic_now(); attempts.pending() && now < end; now = monotonic_now()) {
    attempts.wait(end - now);
  }
  return attempts.errors();
}

std::vector<Address> those_that_answer(const std::string& name, std::vector<Address> answers,
                                       const std::vector<int>& errors, std::vector<std::string>& warnings) {
  if (std::find(errors.begin(), errors.end(), 0) == errors.end()) return answers;
  std::vector<Address> kept;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (errors[i] == 0) {
      kept.push_back(std::move(answers[i]));
    } else {
      warnings.push_back(fmt::format("{}: its address {} is left out: {}", name, answers[i].text,
                                     std::generic_category().message(errors[i])));
    }
  }
  return kept;
}

}  // namespace heddle::engine
