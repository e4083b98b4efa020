// What find-max tells: a line per step, the result, and the document with both.
#pragma once

#include "loadgen/commands/rate_search.hpp"
#include "loadgen/options.hpp"
#include "loadgen/record/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <boost/json.hpp>

namespace heddle::load {

struct StepReport {
  Step step;
  std::int64_t samples_above = 0;  // that the percentiles of its objectives needed
  plan::Nanos duration = 0;        // of the measurement
  double achieved = 0;             // ok per second
  double error_percent = 0;        // of the sent ones: errors and missing answers
  std::optional<record::Quantile> p50;
  std::optional<record::Quantile> p99;
  record::Verdict generator = record::Verdict::ok;
  std::string generator_reason;
  std::optional<double> ceiling_share;  // of this host's calibrated ceiling; empty without a calibration
  std::vector<record::SloResult> slo;
  StepVerdict verdict = StepVerdict::met;
  std::string reason;  // why it is not met; empty when it is
};

// What the run of `step` amounts to. A generator that was only late leaves what is met met, unless `strict`:
// its lateness is in the latencies, which count from due. What is not met need not be the server's fault
// then.
[[nodiscard]] StepReport report_of(const Step& step, std::int64_t samples_above, bool strict,
                                   const record::RunResult& result);

struct SearchReport {
  record::Status status = record::Status::complete;
  std::string reason;  // why not complete
  bool running = true;
  std::vector<StepReport> steps;
  SearchResult result;
};

// find-max.json, schema 1.
[[nodiscard]] boost::json::object search_json(const SearchReport& report, const Options& options);

// The line above the steps and that of the newest.
[[nodiscard]] std::string step_heading();
[[nodiscard]] std::string step_line(const StepReport& step, std::size_t number);

// What was found, for people.
[[nodiscard]] std::string search_text(const SearchReport& report, const Options& options);

}  // namespace heddle::load
