#include "loadgen/plan/input_file.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace heddle::plan {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_{fd} {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

std::string read_input_file(const std::filesystem::path& file, const std::string& what, std::size_t limit) {
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument(fmt::format("cannot read {} {}: {}", what, file.string(), why));
  };
  // Without O_NONBLOCK, opening a pipe waits for its writer.
  const Descriptor input{open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat status {};
  if (input.get() < 0 || fstat(input.get(), &status) != 0) refuse(std::strerror(errno));
  if (S_ISDIR(status.st_mode)) refuse(std::strerror(EISDIR));
  if (!S_ISREG(status.st_mode)) refuse("no regular file");
  std::string content;
  std::array<char, 65536> block{};
  // The announced size is no limit: the file may grow, and files in /proc announce 0.
  for (;;) {
    const auto got = read(input.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(std::strerror(errno));
    if (got == 0) return content;
    content.append(block.data(), static_cast<std::size_t>(got));
    if (content.size() > limit) refuse(fmt::format("more than {} bytes", limit));
  }
}

}  // namespace heddle::plan
