#include "loadgen/engine/driver.hpp"
#include "loadgen/plan/schedule.hpp"

#include <algorithm>
#include <vector>

namespace heddle::engine {
namespace {

enum class Doing : std::uint8_t {
  nothing,   // has not started, or is retired
  starting,  // opens its connection; its first request is due when that is open
  thinking,
  waiting,  // its request is due, its connection is not open
  asking,   // its request is on the wire
};

struct User {
  Doing doing = Doing::nothing;
  bool retiring = false;         // after its current request
  std::uint32_t generation = 0;  // a timer of an earlier life is stale
  std::uint32_t asked = 0;       // requests so far
  std::uint32_t thoughts = 0;
  Ticket ticket;
};

// User u of the plan is user u / threads of thread u % threads, and owns the connection of the same number.
class UserDriver final : public Driver {
 public:
  UserDriver(const Setup& setup, std::uint32_t thread, ConnectionSet& connections, Recorder& recorder)
      : setup_{setup},
        thread_{thread},
        connections_{connections},
        recorder_{recorder},
        users_(connections.size()) {}

  void begin(const StageGroup& group, Nanos start) override {
    group_ = &group;
    start_ = start;
    end_ = start + plan::total_duration(group.stages);
    changes_ = plan::user_changes(group.stages, active_, thread_, setup_.threads);
    next_change_ = 0;
    active_ = plan::user_range(group.stages.back()).second;
    for (std::uint32_t i = 0; i < users_.size(); ++i) {  // whose connection opened between two groups
      if (users_[i].doing == Doing::starting && connections_.at(i).state == State::idle) ask(i, start);
    }
  }

  void run_due(Nanos now) override {
    std::int64_t most = apply_changes(now, kSendBatch);
    for (; most > 0 && thoughts_.next() <= now && thoughts_.next() < end_; --most) {
      const Timer timer = thoughts_.pop();
      const auto& user = users_[timer.index];
      if (user.generation != timer.generation || user.doing != Doing::thinking) continue;
      // Thoughts that ended between two groups of stages lead to a request at the start of the next one.
      ask(timer.index, std::max(timer.at, start_));
    }
  }

  [[nodiscard]] Nanos next_due() const override {
    const Nanos change = next_change_ < changes_.size() ? start_ + changes_[next_change_].at : kNever;
    return std::min(change, thoughts_.next());
  }

  bool end(Nanos end) override {
    apply_changes(end, INT64_MAX);
    group_ = nullptr;
    for (std::uint32_t i = 0; i < users_.size(); ++i) {
      if (users_[i].doing == Doing::waiting) give_up_waiting(i, std::max(end, users_[i].ticket.due));
    }
    return true;
  }

  void on_open(std::uint32_t index, Nanos now) override {
    auto& user = users_[index];
    if (user.doing == Doing::starting && group_ != nullptr) return ask(index, now);
    if (user.doing == Doing::waiting) send(index);
  }

  // A user whose connection could not be made has asked in vain, thinks, and asks again.
  void on_open_failed(std::uint32_t index, record::Failure failure, Nanos now) override {
    auto& user = users_[index];
    if (group_ == nullptr) return;
    if (user.doing == Doing::starting) plan_request(index, now);
    if (user.doing != Doing::waiting) return;
    auto& counts = recorder_.cell(user.ticket.stage, user.ticket.request_class).counts;
    ++counts.sent;
    counts.add_failure(failure);
    recorder_.row(record::Outcome::transport_error, user.ticket, Recorder::kNotSent, now, 0, failure);
    if (user.retiring) return stop(index);
    think(index, now);
  }

  void on_request_end(std::uint32_t index, Nanos now) override {
    if (users_[index].retiring) return stop(index);
    think(index, now);
  }

 private:
  [[nodiscard]] std::uint64_t number_of(std::uint32_t index) const {
    return static_cast<std::uint64_t>(index) * setup_.threads + thread_;
  }

  // At most `most` starts and retirements that are due; how many of them are left.
  std::int64_t apply_changes(Nanos now, std::int64_t most) {
    for (; most > 0 && next_change_ < changes_.size() && start_ + changes_[next_change_].at <= now;
         ++next_change_, --most) {
      const auto& change = changes_[next_change_];
      const auto index = static_cast<std::uint32_t>(change.user / setup_.threads);
      if (change.start) {
        start_user(index, change.at_once);
      } else {
        retire(index, start_ + change.at);
      }
    }
    return most;
  }

  // Users who start together would ask together, again and again in the rhythm of their think time: they
  // begin with a thought. Users of a ramp ask at once.
  void start_user(std::uint32_t index, bool together) {
    // Not the turn's start: in a closed loop a request is due when it is sent, and others went before it.
    const Nanos now = monotonic_now();
    auto& user = users_[index];
    user.retiring = false;
    if (user.doing != Doing::nothing) return;
    connections_.open(index);
    if (together && setup_.plan.think.kind != plan::ThinkKind::none) {
      think(index, now);
    } else if (connections_.at(index).state == State::idle) {
      ask(index, now);
    } else {
      user.doing = Doing::starting;
    }
  }

  void retire(std::uint32_t index, Nanos now) {
    auto& user = users_[index];
    if (user.doing == Doing::asking) {
      user.retiring = true;
      return;
    }
    if (user.doing == Doing::waiting) give_up_waiting(index, now);
    if (user.doing != Doing::nothing) stop(index);
  }

  void stop(std::uint32_t index) {
    auto& user = users_[index];
    user.doing = Doing::nothing;
    user.retiring = false;
    ++user.generation;
    connections_.close(index);
  }

  void think(std::uint32_t index, Nanos now) {
    auto& user = users_[index];
    const Nanos pause =
        plan::think_time(setup_.plan.think, setup_.plan.seed, number_of(index), user.thoughts++);
    if (pause == 0 && group_ != nullptr && now < end_ && connections_.at(index).state == State::idle) {
      return ask(index, now);
    }
    user.doing = Doing::thinking;
    ++user.generation;
    thoughts_.add({now + pause, index, user.generation});
  }

  void plan_request(std::uint32_t index, Nanos due) {
    auto& user = users_[index];
    const auto stage = group_->first_stage + plan::stage_at(group_->stages, due - start_);
    user.ticket = {due, static_cast<std::uint32_t>(stage),
                   setup_.mix.of_user(number_of(index), user.asked++)};
    ++recorder_.cell(user.ticket.stage, user.ticket.request_class).counts.planned;
    user.doing = Doing::waiting;
  }

  void ask(std::uint32_t index, Nanos due) {
    plan_request(index, due);
    if (connections_.at(index).state == State::idle) send(index);
  }

  void send(std::uint32_t index) {
    users_[index].doing = Doing::asking;
    connections_.send(index, users_[index].ticket);
  }

  // The end came before its connection did.
  void give_up_waiting(std::uint32_t index, Nanos end) {
    auto& user = users_[index];
    auto& cell = recorder_.cell(user.ticket.stage, user.ticket.request_class);
    ++cell.counts.unsent;
    cell.latency.waiting.record_nanos(end - user.ticket.due);
    recorder_.row(record::Outcome::unsent, user.ticket, Recorder::kNotSent, end);
    user.doing = Doing::thinking;
    ++user.generation;
    thoughts_.add({end, index, user.generation});
  }

  const Setup& setup_;
  std::uint32_t thread_;
  ConnectionSet& connections_;
  Recorder& recorder_;
  std::vector<User> users_;
  Timers thoughts_;
  const StageGroup* group_ = nullptr;  // null between groups: nobody asks
  Nanos start_ = 0;
  Nanos end_ = 0;
  std::vector<plan::UserChange> changes_;
  std::size_t next_change_ = 0;
  std::int64_t active_ = 0;
};

}  // namespace

std::unique_ptr<Driver> make_user_driver(const Setup& setup, std::uint32_t thread, ConnectionSet& connections,
                                         Recorder& recorder) {
  return std::make_unique<UserDriver>(setup, thread, connections, recorder);
}

}  // namespace heddle::engine
