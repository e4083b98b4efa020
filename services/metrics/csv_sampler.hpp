// The running service, one row a second in a CSV file. Columns: docs/formats.md, "Service metrics".
#pragma once

#include "services/metrics/process_sample.hpp"
#include "services/metrics/registry.hpp"

#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace heddle::metrics {

// Construct it before any thread splits its descriptor table, and start it from the thread that constructed
// it: the sampling thread shares that table. The registry and what its gauges read outlive it.
class CsvSampler {
 public:
  // Opens `path` for writing, replaces what is there, and writes the header. Throws std::runtime_error that
  // holds the path and the reason.
  CsvSampler(const Registry& registry, const std::string& path);
  ~CsvSampler();  // stops
  CsvSampler(const CsvSampler&) = delete;
  CsvSampler& operator=(const CsvSampler&) = delete;

  // Starts the thread: one row at once, then one at every full second after it (an absolute schedule, without
  // drift), and a look at the tasks in flight ten times a second. All signals are blocked in it.
  void start();

  // Writes a last row and ends the thread. Blocks until it has ended; further calls do nothing.
  void stop();

 private:
  void run();
  void write_row();
  [[nodiscard]] bool write(std::string_view text);  // false: errno tells why not
  void report(std::string_view reason);

  struct FileCloser {
    void operator()(std::FILE* file) const;
  };

  const Registry& registry_;
  std::string path_;
  std::unique_ptr<std::FILE, FileCloser> file_;
  ProcessSampler process_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  bool write_failed_ = false;
  std::thread thread_;
};

}  // namespace heddle::metrics
