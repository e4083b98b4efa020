// Runs the real binary in a folder of its own.
#pragma once

#include "tests/loadgen/fake_server.hpp"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace heddle::testing {

inline std::string content(const std::filesystem::path& file) {
  std::ifstream in{file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

class CommandLine : public ::testing::Test {
 protected:
  CommandLine() {
    std::string name = std::filesystem::temp_directory_path() / "heddle-load-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~CommandLine() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] static std::vector<char*> words(std::vector<std::string>& arguments) {
    arguments.insert(arguments.begin(), HEDDLE_LOAD);
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    return argv;
  }
  [[nodiscard]] pid_t start(std::vector<std::string> arguments) const {
    const auto argv = words(arguments);
    const auto out = standard_output_.empty() ? (folder_ / "out").string() : standard_output_;
    const auto err = (folder_ / "err").string();
    const pid_t pid = fork();
    if (pid != 0) return pid;
    dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    dup2(open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    std::signal(SIGPIPE, SIG_DFL);  // as a shell starts it, whatever this process does
    if (largest_file_ > 0) {
      // Writes beyond it then fail as on a full disk, with EFBIG.
      const rlimit limit{largest_file_, largest_file_};
      setrlimit(RLIMIT_FSIZE, &limit);
      std::signal(SIGXFSZ, SIG_IGN);
    }
    execv(argv[0], argv.data());
    _exit(127);
  }
  [[nodiscard]] Outcome finish(pid_t pid) const {
    int status = 0;
    waitpid(pid, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(folder_ / "out"), content(folder_ / "err")};
  }
  [[nodiscard]] Outcome run(std::vector<std::string> arguments) const {
    return finish(start(std::move(arguments)));
  }

  [[nodiscard]] boost::json::object load_json() const {
    return boost::json::parse(content(folder_ / "result/load.json")).as_object();
  }
  [[nodiscard]] std::string result_folder() const { return folder_ / "result"; }

  std::filesystem::path folder_;
  std::string standard_output_;  // another file for it
  rlim_t largest_file_ = 0;      // in bytes; 0 = as the host allows
};

}  // namespace heddle::testing
