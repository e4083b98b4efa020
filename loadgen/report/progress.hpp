// The live line for people.
#pragma once

#include "loadgen/record/listener.hpp"

#include <string>

namespace heddle::report {

// What the line says about one second: elapsed time, stage, rates, percentiles, errors, requests in flight
// and how late the generator sent. A percentile with fewer than 10 samples above it is "-".
[[nodiscard]] std::string progress_text(const record::Second& second, const record::RunInfo& info);

// One line on standard error that is written over every second and erased at the end. For a terminal only.
class ProgressLine final : public record::RunListener {
 public:
  void started(const record::RunInfo& info) override { info_ = info; }
  void connected(const record::ConnectionStats&, std::int64_t) override {}
  void stage_started(std::size_t, std::int64_t) override {}
  void stage_ended(std::size_t, std::int64_t) override {}
  void second(const record::Second& second) override;
  void done(const record::RunResult& result) override;

 private:
  record::RunInfo info_;
};

}  // namespace heddle::report
