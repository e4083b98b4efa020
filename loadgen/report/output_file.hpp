// A file that is written while the run goes on, and remembers when that did not work.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace heddle::report {

class OutputFile {
 public:
  // "-" is standard output. Throws std::runtime_error when the file cannot be opened.
  explicit OutputFile(const std::filesystem::path& file);

  // Writes all of it at once; after the first failure nothing, even when there is room again. Never throws:
  // engine threads are running. Blocks as the file does.
  void write(std::string_view text);

  // The first failure, "cannot write FILE: why"; empty when everything was written.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::string name_;
  std::string problem_;
};

}  // namespace heddle::report
