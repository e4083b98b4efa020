// One engine thread: the loop that pins itself, opens its connections, runs the groups of stages when the
// main thread says so, and hands an interval over every second.
#pragma once

#include "loadgen/engine/connection_set.hpp"
#include "loadgen/engine/driver.hpp"
#include "loadgen/engine/pacer.hpp"

#include <string>

namespace heddle::engine {

class Worker {
 public:
  // Throws std::system_error when the kernel gives no epoll instance.
  Worker(const Setup& setup, Control& control, std::uint32_t thread);

  // The thread's function. Returns when Control::finish is set, or after an error (see failure()).
  void run();
  // From the main thread, after it changed Control.
  void wake() { poller_.wake(); }

  [[nodiscard]] Report& report() { return report_; }
  // Its mailbox; its last interval only after the thread has ended.
  [[nodiscard]] Recorder& recorder() { return recorder_; }

  // The rest only after the thread has ended.
  [[nodiscard]] record::ConnectionStats connections() const { return connections_.stats(); }
  [[nodiscard]] const record::ThreadStats& stats() const { return stats_; }
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  // ending: nothing is sent any more, but not all that was never sent is counted yet.
  enum class Phase : std::uint8_t { connecting, active, ending, between };

  // What this thread has used since it began.
  struct Usage {
    Nanos at = 0;
    Nanos busy = 0;
    Nanos spun = 0;
    Nanos cpu = 0;
    double run_delay_seconds = 0;
  };

  void prepare();
  void loop();
  std::span<const epoll_event> wait(Nanos due, Nanos until);
  void handle(std::span<const epoll_event> events);
  void send_due(Nanos now);
  Nanos open_more(Nanos now);
  void change_phase(Nanos now);
  void begin_group(Nanos start);
  void end_group(Nanos end);
  void count_unsent();
  [[nodiscard]] Nanos group_end() const;
  void keep_seconds(Nanos now);
  void begin_window(Nanos start);
  void end_window(Nanos now);
  void end_stage(Nanos now);
  [[nodiscard]] Usage usage(Nanos now) const;
  static void fill(record::ThreadStats& stats, const Usage& from, const Usage& to);

  const Setup& setup_;
  Control& control_;
  std::uint32_t thread_;
  Report report_;
  Poller poller_;
  Recorder recorder_;
  ConnectionSet connections_;
  std::unique_ptr<Driver> driver_;
  Pacer pacer_;
  Phase phase_ = Phase::connecting;
  std::size_t group_ = 0;
  Nanos start_ = 0;        // of the current group
  Nanos planned_end_ = 0;  // of it
  Nanos next_second_ = kNever;
  std::uint32_t opened_ = 0;  // of the connect phase
  bool swap_pending_ = false;
  bool measuring_ = false;
  Nanos ended_at_ = 0;             // while ending: when the load ended
  std::vector<Nanos> stage_ends_;  // of the measure group, those that are not over
  Usage window_start_;
  Usage stage_start_;
  Nanos busy_ = 0;
  Nanos spun_ = 0;
  double on_wire_at_start_ = 0;
  record::ThreadStats stats_;
  std::string failure_;
};

}  // namespace heddle::engine
