// What a run tells while it goes on. Called on the main thread only. After started() no call throws: what
// goes wrong is kept for problem().
#pragma once

#include "loadgen/record/interval.hpp"
#include "loadgen/record/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::record {

// All threads together, about one second.
struct Second {
  std::int64_t number = 0;       // since the start of the run
  std::size_t stage = 0;         // that is going on at its end
  std::int64_t start_nanos = 0;  // CLOCK_MONOTONIC
  std::int64_t end_nanos = 0;
  const Interval* data = nullptr;  // merged; in_flight is the level at the end
};

class RunListener {
 public:
  virtual ~RunListener() = default;
  virtual void started(const RunInfo& info) = 0;
  // The connect phase is over.
  virtual void connected(const ConnectionStats& connections, std::int64_t monotonic_nanos) = 0;
  virtual void stage_started(std::size_t stage, std::int64_t monotonic_nanos) = 0;
  virtual void stage_ended(std::size_t stage, std::int64_t monotonic_nanos) = 0;
  virtual void second(const Second& second) = 0;
  virtual void done(const RunResult& result) = 0;
  // Why something told could not be kept, in one line; empty when all was.
  [[nodiscard]] virtual std::string problem() const { return {}; }
};

}  // namespace heddle::record
