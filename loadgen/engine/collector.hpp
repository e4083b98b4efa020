// Merges what the engine threads hand over, on the main thread.
#pragma once

#include "loadgen/engine/recorder.hpp"
#include "loadgen/engine/setup.hpp"
#include "loadgen/record/listener.hpp"

#include <vector>

namespace heddle::engine {

class Collector {
 public:
  // One recorder per engine thread; they must outlive the collector.
  Collector(const Setup& setup, std::vector<Recorder*> recorders, record::RunListener& listener);

  // Takes what is there; tells the listener of a second when every thread has handed its part over, or when
  // the first part has waited for kPatience.
  void poll(Nanos now, std::size_t stage);
  // After the threads have ended: everything that poll() has not taken yet, the last, shorter interval, and
  // the levels of requests in flight.
  void finish(Nanos now, std::size_t stage);

  [[nodiscard]] const record::Cell& total(std::size_t stage, std::size_t request_class) const {
    return totals_[stage * classes_ + request_class];
  }
  // Of the measure window.
  [[nodiscard]] const record::Histogram& lag() const { return lag_; }
  [[nodiscard]] const record::Histogram& turns() const { return turns_; }
  // Of all requests of one stage.
  [[nodiscard]] const record::Histogram& lag_of_stage(std::size_t stage) const { return stage_lags_[stage]; }
  // Of one engine thread: its lateness in the measure window, and what it sent of the measure stages.
  [[nodiscard]] const record::Histogram& lag_of(std::size_t thread) const { return threads_[thread].lag; }
  [[nodiscard]] std::int64_t sent_by(std::size_t thread) const { return threads_[thread].sent; }

 private:
  struct Thread {
    record::Histogram lag;
    std::int64_t sent = 0;
  };

  void add(const record::Interval& part, std::size_t thread);
  void add_levels(const record::Interval& part);
  void emit(std::size_t stage);

  const Setup& setup_;
  std::size_t stages_;
  std::size_t classes_;
  std::vector<Recorder*> recorders_;
  record::RunListener& listener_;
  record::Interval merged_;
  std::vector<bool> delivered_;
  std::size_t parts_ = 0;
  Nanos first_part_at_ = 0;
  std::int64_t number_ = 0;
  std::vector<record::Cell> totals_;
  std::vector<Thread> threads_;
  std::vector<record::Histogram> stage_lags_;
  record::Histogram lag_;
  record::Histogram turns_;
};

}  // namespace heddle::engine
