// --record-requests: one row per request, written by a thread of its own.
#pragma once

#include "loadgen/record/listener.hpp"
#include "loadgen/record/request_log.hpp"
#include "loadgen/report/output_file.hpp"

#include <atomic>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace heddle::report {

// Rows that wait for the writer, per engine thread: 3 MiB, and more than a second of 50,000 requests per
// second, should the disk keep the writer waiting.
inline constexpr std::size_t kRequestRows = 65'536;

// end_epoch_millis, monotonic_nanos  when the request ended, on both clocks
// stage, request                     names
// outcome        ok, httpError, timeout, inFlight (at the end of the run), shed, unsent, or the class of a
//                transport error: refused, connectTimeout, reset, staleReuse, truncated, malformed, other
// latency_micros from due; without an answer as long as it had waited until then
// service_micros from sent; empty when it never was
// status         of HTTP; empty without an answer
// error          what the kernel said, for people; mostly empty
//
// Micros are rounded as in the histograms. Rows are in the order of their ends for each engine thread, not
// over all of them.
class RequestsCsv final : public record::RunListener {
 public:
  // Throws std::runtime_error when the file cannot be opened. `capacity` as in RequestLog.
  RequestsCsv(const std::filesystem::path& file, std::size_t threads, std::size_t capacity = kRequestRows);
  ~RequestsCsv() override;
  RequestsCsv(const RequestsCsv&) = delete;
  RequestsCsv& operator=(const RequestsCsv&) = delete;

  // Where engine threads push their rows.
  [[nodiscard]] record::RequestLog& log() { return log_; }

  // Starts the thread.
  void started(const record::RunInfo& info) override;
  void connected(const record::ConnectionStats&, std::int64_t) override {}
  void stage_started(std::size_t, std::int64_t) override {}
  void stage_ended(std::size_t, std::int64_t) override {}
  void second(const record::Second&) override {}
  // Writes what is left and ends the thread. Blocks as the disk does.
  void done(const record::RunResult& result) override;
  // From any thread.
  [[nodiscard]] std::string problem() const override;

  // After done(): what is in the file and what is not.
  [[nodiscard]] record::RequestRows rows() const;

 private:
  void write_until_stopped();
  void write_what_is_there();
  void stop();

  std::filesystem::path name_;
  OutputFile file_;
  record::RequestLog log_;
  record::RunInfo info_;
  std::vector<std::string> stages_;  // as they stand in the file
  std::vector<std::string> classes_;
  std::vector<record::RequestRecord> taken_;
  std::int64_t written_ = 0;
  std::int64_t lost_ = 0;  // taken, but the file did not
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;  // of problem_
  std::string problem_;
  std::thread writer_;
};

// As RFC 4180 wants it: in quotes, doubled inside, when it holds a comma, a quote or a line break.
[[nodiscard]] std::string csv_field(std::string_view text);

}  // namespace heddle::report
