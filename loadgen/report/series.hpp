// What is written while the run goes on: load-seconds.csv and the event stream.
#pragma once

#include "loadgen/record/listener.hpp"
#include "loadgen/report/output_file.hpp"

#include <filesystem>
#include <memory>
#include <vector>

#include <boost/json.hpp>

namespace heddle::report {

// One row per second, stage and request type with anything to tell. The stamps are the END of the interval,
// as in every sampled series; counts are those of the interval, in_flight is the level at its end;
// lag_micros_p99 is the generator's, empty under 1,000 requests.
class SecondsCsv final : public record::RunListener {
 public:
  explicit SecondsCsv(const std::filesystem::path& file) : file_{file} {}
  void started(const record::RunInfo& info) override;
  void connected(const record::ConnectionStats&, std::int64_t) override {}
  void stage_started(std::size_t, std::int64_t) override {}
  void stage_ended(std::size_t, std::int64_t) override {}
  void second(const record::Second& second) override;
  void done(const record::RunResult&) override {}
  [[nodiscard]] std::string problem() const override { return file_.problem(); }

 private:
  OutputFile file_;
  record::RunInfo info_;
};

// One JSON object per line, flushed at once.
class EventStream final : public record::RunListener {
 public:
  explicit EventStream(const std::filesystem::path& file) : file_{file} {}
  void started(const record::RunInfo& info) override;
  void connected(const record::ConnectionStats& connections, std::int64_t monotonic_nanos) override;
  void stage_started(std::size_t stage, std::int64_t monotonic_nanos) override;
  void stage_ended(std::size_t stage, std::int64_t monotonic_nanos) override;
  void second(const record::Second& second) override;
  void done(const record::RunResult& result) override;
  [[nodiscard]] std::string problem() const override { return file_.problem(); }

 private:
  void write(const boost::json::object& event);
  void stage_event(const char* event, std::size_t stage, std::int64_t monotonic_nanos);

  OutputFile file_;
  record::RunInfo info_;
};

// Hands everything on to several listeners.
class Fanout final : public record::RunListener {
 public:
  void add(std::unique_ptr<record::RunListener> listener) { listeners_.push_back(std::move(listener)); }
  // Throws std::runtime_error when a listener cannot write: a run must not go on for nothing.
  void started(const record::RunInfo& info) override;
  void connected(const record::ConnectionStats& connections, std::int64_t monotonic_nanos) override;
  void stage_started(std::size_t stage, std::int64_t monotonic_nanos) override;
  void stage_ended(std::size_t stage, std::int64_t monotonic_nanos) override;
  void second(const record::Second& second) override;
  void done(const record::RunResult& result) override;
  [[nodiscard]] std::string problem() const override;

 private:
  std::vector<std::unique_ptr<record::RunListener>> listeners_;
};

}  // namespace heddle::report
