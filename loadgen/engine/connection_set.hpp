// The connections of one engine thread: opens, sends, reads, times out, reopens, and records every outcome.
// When and what to send is the driver's business, which it tells through ConnectionObserver. Nothing blocks.
#pragma once

#include "loadgen/engine/connection.hpp"
#include "loadgen/engine/control.hpp"
#include "loadgen/engine/occupancy.hpp"
#include "loadgen/engine/poller.hpp"
#include "loadgen/engine/recorder.hpp"
#include "loadgen/engine/setup.hpp"
#include "loadgen/engine/timers.hpp"
#include "loadgen/record/result.hpp"

#include <span>
#include <vector>

namespace heddle::engine {

// After so many attempts to connect in a row the answers that have come are looked at: a burst of thousands
// must not delay the connect times of its first ones.
inline constexpr std::uint32_t kOpenBatch = 32;

class ConnectionObserver {
 public:
  virtual ~ConnectionObserver() = default;
  // The connection has just become free for its first request.
  virtual void on_open(std::uint32_t index, Nanos now) = 0;
  // An attempt to open it failed; the next one comes by itself.
  virtual void on_open_failed(std::uint32_t index, record::Failure failure, Nanos now) = 0;
  // Its request has ended in one way or another. It may be idle, or on its way to be opened again.
  virtual void on_request_end(std::uint32_t index, Nanos now) = 0;
};

class ConnectionSet {
 public:
  ConnectionSet(const Setup& setup, std::uint32_t thread, Poller& poller, Recorder& recorder,
                Control& control, Report& report);
  // close_all() came before.
  ~ConnectionSet() = default;
  ConnectionSet(const ConnectionSet&) = delete;
  ConnectionSet& operator=(const ConnectionSet&) = delete;

  void observe(ConnectionObserver& observer) { observer_ = &observer; }

  // Opens the connection and keeps it open from now on. No effect when it is open or being opened.
  void open(std::uint32_t index);
  // Closes it for good; a request on it must have ended.
  void close(std::uint32_t index);
  // Only on an idle connection. Never calls the observer: a failed write is told by the next
  // collect_failures().
  void send(std::uint32_t index, const Ticket& ticket);

  void handle(const epoll_event& event);
  // Ends requests and attempts that are over their time limit, starts reopenings that are due, and tells what
  // failed at once. Returns when it wants to be called again.
  Nanos tend(Nanos now);

  // Answers until then are in time (Counts::ok_in_time).
  void load_ends(Nanos at) { load_end_ = at; }

  // Counts what is still on the wire as in flight, with its time as a lower bound, and closes everything.
  void abandon(Nanos now);
  // Closes everything for good. On the thread that opened it: the descriptors may be in a table of its own.
  void close_all();

  [[nodiscard]] const Connection& at(std::uint32_t index) const { return connections_[index]; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(connections_.size()); }
  [[nodiscard]] std::int64_t in_flight() const { return in_flight_; }
  // Of requests of the measure stages.
  [[nodiscard]] const Occupancy& measured_on_wire() const { return measured_on_wire_; }
  // After close_all(): without the peaks, which are Control's.
  [[nodiscard]] record::ConnectionStats stats() const;

 private:
  // The descriptor is gone or was never there; what this means is decided later, outside of callbacks.
  struct Broken {
    std::uint32_t index;
    std::uint32_t generation;
    int error;
  };

  void on_connected(std::uint32_t index, Nanos now);
  void on_readable(std::uint32_t index, bool closing);
  void take_bytes(std::uint32_t index, std::span<const char> bytes, bool closing, Nanos now);
  void on_end_of_stream(std::uint32_t index, Nanos now);
  void write_rest(std::uint32_t index);
  void answered(std::uint32_t index, const http::Response& response, bool closing, Nanos now);
  void request_failed(std::uint32_t index, record::Failure failure, Nanos now);
  void attempt_failed(std::uint32_t index, record::Failure failure, Nanos now);
  void lost(std::uint32_t index, Nanos now);
  void timed_out(std::uint32_t index, Nanos now);
  void broken(const Broken& broken, Nanos now);

  void record_ok(const Connection& connection, Nanos now);
  void record_waiting(const Connection& connection, Nanos now);
  void leave_wire(std::uint32_t index, Nanos now);
  [[nodiscard]] bool is_measured(const Ticket& ticket) const {
    return setup_.plan.stages[ticket.stage].kind == plan::StageKind::measure;
  }
  void count_lost(const Connection& connection);
  void drop_descriptor(std::uint32_t index);
  void reopen_later(std::uint32_t index, Nanos now);
  void resolve(Connection& connection);
  [[nodiscard]] record::Failure classify(const Connection& connection, int error) const;
  [[nodiscard]] const std::string& bytes_of(const Connection& connection) const;

  const Setup& setup_;
  Poller& poller_;
  Recorder& recorder_;
  Control& control_;
  Report& report_;
  ConnectionObserver* observer_ = nullptr;
  std::vector<Connection> connections_;
  DeadlineList busy_;
  DeadlineList connecting_;
  Timers reopenings_;
  std::vector<Broken> broken_;
  std::vector<char> buffer_;
  http::Response response_;
  Nanos load_end_ = 0;
  std::int64_t in_flight_ = 0;
  Occupancy measured_on_wire_;
  record::ConnectionStats stats_;
  std::vector<record::SourceStats> by_source_;  // as setup_.sources
};

}  // namespace heddle::engine
