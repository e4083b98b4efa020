// What one engine thread writes its observations to.
#pragma once

#include "loadgen/engine/connection.hpp"
#include "loadgen/record/mailbox.hpp"
#include "loadgen/record/request_log.hpp"

#include <vector>

namespace heddle::engine {

class Recorder {
 public:
  Recorder(std::size_t stages, std::size_t classes)
      : mailbox_{stages, classes},
        current_{mailbox_.first()},
        classes_{classes},
        levels_(stages * classes, 0) {}

  [[nodiscard]] record::Cell& cell(std::size_t stage, std::size_t request_class) {
    return current_->cell(stage, request_class);
  }
  // Requests in flight of one stage and class.
  void add_in_flight(std::size_t stage, std::size_t request_class, std::int64_t change) {
    levels_[stage * classes_ + request_class] += change;
  }
  void lag(std::size_t stage, Nanos nanos) {
    current_->lag.record_nanos(nanos);
    current_->stage_lags[stage].record_nanos(nanos);
  }
  void spun(Nanos nanos) { current_->spin_nanos += nanos; }
  void turn(Nanos nanos) { current_->turns.record_nanos(nanos); }

  // Ends the interval at `now` and begins the next; when the main thread still holds the other one, the
  // interval just goes on (false).
  bool swap(Nanos now, bool next_is_measured);
  // Ends the last interval in place: the main thread reads it with last() after this thread has ended.
  void close(Nanos now);
  [[nodiscard]] const record::Interval& last() const { return *current_; }

  // From now on each row() goes to ring `thread` of `log` (null: nowhere).
  void keep_rows(record::RequestLog* log, std::size_t thread) {
    log_ = log;
    thread_ = thread;
  }
  // A request has come to its end, whatever that is: exactly once for each that was planned. `sent`: kNotSent
  // when it was on no wire.
  static constexpr Nanos kNotSent = -1;
  void row(record::Outcome outcome, const Ticket& ticket, Nanos sent, Nanos now, int status = 0,
           record::Failure failure = {}) {
    if (log_ == nullptr) return;
    log_->push(thread_, {now, now - ticket.due, sent == kNotSent ? -1 : now - sent, ticket.stage,
                         ticket.request_class, static_cast<std::uint16_t>(status), outcome, failure});
  }

  void begin(Nanos now) { current_->start_nanos = now; }
  [[nodiscard]] record::Mailbox& mailbox() { return mailbox_; }

 private:
  record::Mailbox mailbox_;
  record::Interval* current_;
  std::size_t classes_;
  std::vector<std::int64_t> levels_;
  record::RequestLog* log_ = nullptr;
  std::size_t thread_ = 0;
};

}  // namespace heddle::engine
