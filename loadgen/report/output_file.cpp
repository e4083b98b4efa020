#include "loadgen/report/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <sys/file.h>
#include <unistd.h>

#include <fmt/format.h>

namespace heddle::report {
namespace {

int leave_open(std::FILE*) {
  return 0;
}

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& file)
    : file_{stdout, &leave_open}, name_{file == "-" ? "to standard output" : file.string()} {
  if (file == "-") return;
  // "a" does not empty it: it may be another run's that is still writing.
  file_ = {std::fopen(file.c_str(), "ae"), &std::fclose};
  if (!file_) throw std::runtime_error(fmt::format("cannot write {}: {}", name_, std::strerror(errno)));
  const int fd = fileno(file_.get());
  if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw std::runtime_error(fmt::format("cannot write {}: another run is writing it", name_));
  }
  // Devices and pipes have no length to be cut.
  [[maybe_unused]] const int cut = ftruncate(fd, 0);
}

void OutputFile::write(std::string_view text) {
  // Behind half a row the next one would be read as its rest.
  if (!problem_.empty()) return;
  const bool written = std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size();
  if (written && std::fflush(file_.get()) == 0) return;
  problem_ = fmt::format("cannot write {}: {}", name_, std::strerror(errno));
}

}  // namespace heddle::report
