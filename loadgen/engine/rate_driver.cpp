#include "loadgen/engine/driver.hpp"
#include "loadgen/plan/schedule.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace heddle::engine {
namespace {

// Requests that were never sent are counted in parts of 1 to 2 ms, between which answers are read.
constexpr std::int64_t kUnsentBatch = 10'000;

// First in, first out over connection numbers; each is in it once at most.
class FreeList {
 public:
  explicit FreeList(std::size_t connections)
      : ring_(connections == 0 ? 1 : connections), queued_(ring_.size()) {}

  void push(std::uint32_t index) {
    if (queued_[index]) return;
    queued_[index] = true;
    auto at = first_ + count_;
    if (at >= ring_.size()) at -= ring_.size();
    ring_[at] = index;
    ++count_;
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  std::uint32_t pop() {
    const auto index = ring_[first_];
    if (++first_ == ring_.size()) first_ = 0;
    --count_;
    queued_[index] = false;
    return index;
  }

 private:
  std::vector<std::uint32_t> ring_;
  std::vector<bool> queued_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

class RateDriver final : public Driver {
 public:
  RateDriver(const Setup& setup, std::uint32_t thread, ConnectionSet& connections, Recorder& recorder)
      : setup_{setup},
        thread_{thread},
        connections_{connections},
        recorder_{recorder},
        free_{connections.size()} {}

  void begin(const StageGroup& group, Nanos start) override {
    start_ = start;
    end_ = start + plan::total_duration(group.stages);
    planned_until_ = start;
    waiting_for_connection_ = false;
    offered_.emplace(group.stages, group.first_stage, setup_.plan.seed, thread_, setup_.threads);
    to_send_.emplace(*offered_);
  }

  void run_due(Nanos now) override {
    plan_until(now);
    dispatch(now, kSendBatch);
  }

  [[nodiscard]] Nanos next_due() const override {
    if (!to_send_ || !to_send_->peek()) return kNever;
    const Nanos due = start_ + to_send_->peek()->due;
    if (!waiting_for_connection_) return due;
    // Only a connection that becomes free helps; until then requests still fall due and have to be counted.
    return offered_->peek() ? start_ + offered_->peek()->due : kNever;
  }

  // A run that is interrupted ends at a moment that this thread learns of later. What fell due in between is
  // planned and maybe sent: the plan then ends where this thread had come to.
  bool end(Nanos at) override {
    if (!ending_) {
      plan_until(at);
      dispatch(at, INT64_MAX);
      waiting_for_connection_ = false;  // whatever becomes free now sends nothing more
      ending_ = std::max(at, planned_until_);
    }
    for (std::int64_t i = 0; i < kUnsentBatch && is_due(*to_send_, *ending_); ++i, to_send_->advance()) {
      const auto& arrival = *to_send_->peek();
      const auto ticket = ticket_of(arrival);
      auto& cell = recorder_.cell(ticket.stage, ticket.request_class);
      ++cell.counts.unsent;
      cell.latency.waiting.record_nanos(*ending_ - (start_ + arrival.due));
      recorder_.row(record::Outcome::unsent, ticket, Recorder::kNotSent, *ending_);
    }
    if (is_due(*to_send_, *ending_)) return false;
    to_send_.reset();
    offered_.reset();
    ending_.reset();
    return true;
  }

  void on_open(std::uint32_t index, Nanos now) override { freed(index, now); }
  void on_open_failed(std::uint32_t, record::Failure, Nanos) override {}
  void on_request_end(std::uint32_t index, Nanos now) override {
    if (connections_.at(index).state == State::idle) freed(index, now);
  }

 private:
  void freed(std::uint32_t index, Nanos now) {
    free_.push(index);
    if (waiting_for_connection_) run_due(std::min(now, end_));
  }

  [[nodiscard]] bool is_due(const plan::ArrivalCursor& cursor, Nanos now) const {
    return cursor.peek() && start_ + cursor.peek()->due <= now;
  }

  [[nodiscard]] std::uint16_t class_of(const plan::Arrival& arrival) const {
    return setup_.mix.of_arrival(arrival.stage, arrival.index);
  }
  [[nodiscard]] Ticket ticket_of(const plan::Arrival& arrival) const {
    return {start_ + arrival.due, arrival.stage, class_of(arrival)};
  }
  [[nodiscard]] record::Cell& cell_of(const plan::Arrival& arrival) {
    return recorder_.cell(arrival.stage, class_of(arrival));
  }

  // A request is planned when it falls due, whether or not it can be sent then.
  void plan_until(Nanos now) {
    for (; offered_ && is_due(*offered_, now); offered_->advance())
      ++cell_of(*offered_->peek()).counts.planned;
    planned_until_ = std::max(planned_until_, now);
  }

  void dispatch(Nanos now, std::int64_t most) {
    waiting_for_connection_ = false;
    for (; to_send_ && is_due(*to_send_, now) && most > 0; to_send_->advance(), --most) {
      const auto& arrival = *to_send_->peek();
      const Nanos due = start_ + arrival.due;
      if (gave_up(due, now)) {
        shed(arrival, now);
        continue;
      }
      const auto index = take_free();
      if (index != kNone) {
        connections_.send(index, ticket_of(arrival));
      } else if (setup_.plan.when_busy == plan::WhenBusy::shed) {
        shed(arrival, now);
      } else {
        waiting_for_connection_ = true;
        return;
      }
    }
  }

  // A request waits in the queue no longer than its answer could take.
  [[nodiscard]] bool gave_up(Nanos due, Nanos now) const {
    return setup_.plan.request_timeout > 0 && now - due > setup_.plan.request_timeout;
  }

  void shed(const plan::Arrival& arrival, Nanos now) {
    const auto ticket = ticket_of(arrival);
    auto& cell = recorder_.cell(ticket.stage, ticket.request_class);
    ++cell.counts.shed;
    cell.latency.waiting.record_nanos(now - (start_ + arrival.due));
    recorder_.row(record::Outcome::shed, ticket, Recorder::kNotSent, now);
  }

  // Connections that were lost while they were free are passed over; they come back through on_open().
  std::uint32_t take_free() {
    while (!free_.empty()) {
      const auto index = free_.pop();
      if (connections_.at(index).state == State::idle) return index;
    }
    return kNone;
  }

  const Setup& setup_;
  std::uint32_t thread_;
  ConnectionSet& connections_;
  Recorder& recorder_;
  FreeList free_;
  Nanos start_ = 0;
  Nanos end_ = 0;  // as planned
  Nanos planned_until_ = 0;
  // Two walks over the same plan: what has fallen due, and what has been sent. Their distance is the queue,
  // which therefore takes no memory however long it grows.
  std::optional<plan::ArrivalCursor> offered_;
  std::optional<plan::ArrivalCursor> to_send_;
  bool waiting_for_connection_ = false;
  std::optional<Nanos> ending_;  // between the first and the last call of end(): until when requests count
};

}  // namespace

std::unique_ptr<Driver> make_rate_driver(const Setup& setup, std::uint32_t thread, ConnectionSet& connections,
                                         Recorder& recorder) {
  return std::make_unique<RateDriver>(setup, thread, connections, recorder);
}

}  // namespace heddle::engine
