#include "loadgen/engine/connection_set.hpp"

#include "loadgen/engine/routes.hpp"
#include "loadgen/plan/draw.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <unistd.h>

namespace heddle::engine {
namespace {

using record::Failure;
using record::Outcome;
using record::TransportError;

// Larger than any answer of the service (1.7 KiB) and most others: one read per answer.
constexpr std::size_t kReceiveBuffer = 64 * 1024;

// A server that went away is tried again after 50 ms, then twice as long each time, 2 s at most, give or take
// a quarter so that thousands of connections do not come back in one instant.
constexpr Nanos kFirstBackOff = 50 * plan::kMillisecond;
constexpr Nanos kLongestBackOff = 2 * plan::kSecond;

Nanos back_off(std::uint8_t failures, std::uint64_t seed) {
  const int doublings = std::min<int>(failures > 0 ? failures - 1 : 0, 10);
  const auto base = std::min(kLongestBackOff, kFirstBackOff << doublings);
  return static_cast<Nanos>(static_cast<double>(base) * (0.75 + 0.5 * plan::unit(plan::scramble(seed))));
}

Failure attempt_failure(int error) {
  // No file at a unix socket's path: nobody listens there.
  if (error == ECONNREFUSED || error == ENOENT) return {TransportError::refused, error};
  if (error == ETIMEDOUT) return {TransportError::connect_timeout, error};
  if (error == ECONNRESET) return {TransportError::reset, error};
  return {TransportError::other, error};
}

std::string error_key(Failure failure) {
  std::string key{name_of(failure.error)};
  if (failure.error != TransportError::other) return key;
  const char* name = strerrorname_np(failure.code);
  return key + ":" + (name == nullptr ? std::to_string(failure.code) : name);
}

std::uint64_t token_of(std::uint32_t index, std::uint32_t generation) {
  return static_cast<std::uint64_t>(generation) << 32 | index;
}

}  // namespace

ConnectionSet::ConnectionSet(const Setup& setup, std::uint32_t thread, Poller& poller, Recorder& recorder,
                             Control& control, Report& report)
    : setup_{setup},
      poller_{poller},
      recorder_{recorder},
      control_{control},
      report_{report},
      connections_(static_cast<std::size_t>((setup.connections + static_cast<std::int64_t>(setup.threads) -
                                             1 - static_cast<std::int64_t>(thread)) /
                                            static_cast<std::int64_t>(setup.threads))),
      busy_{connections_},
      connecting_{connections_},
      buffer_(kReceiveBuffer),
      by_source_(setup.sources.size()) {
  for (std::uint32_t i = 0; i < size(); ++i) {
    const auto number = static_cast<std::size_t>(i) * setup.threads + thread;
    const auto place = place_of(setup, number);
    connections_[i].target = place.target;
    connections_[i].source = place.source;
  }
  stats_.asked = size();
  for (const auto& connection : connections_) {
    if (connection.source != kNone) ++by_source_[connection.source].asked;
  }
}

record::ConnectionStats ConnectionSet::stats() const {
  auto stats = stats_;
  for (std::size_t i = 0; i < by_source_.size(); ++i) {
    stats.by_source[setup_.sources[i].text].merge(by_source_[i]);
  }
  return stats;
}

const std::string& ConnectionSet::bytes_of(const Connection& connection) const {
  return setup_.requests[connection.target][connection.ticket.request_class];
}

// ---- opening -------------------------------------------------------------------------------------------

void ConnectionSet::open(std::uint32_t index) {
  auto& connection = connections_[index];
  connection.wanted = true;
  if (connection.state != State::closed) return;
  ++connection.generation;
  const Address* source = connection.source == kNone ? nullptr : &setup_.sources[connection.source];
  connection.sent = monotonic_now();
  const auto opened = start_connect(setup_.targets[connection.target], source, setup_.socket_options);
  connection.fd = opened.fd;
  connection.state = State::connecting;
  connection.answered = 0;
  connecting_.append(index);
  int error = opened.error;
  if (error == 0) error = poller_.add(connection.fd, token_of(index, connection.generation));
  if (error != 0) broken_.push_back({index, connection.generation, error});
}

void ConnectionSet::on_connected(std::uint32_t index, Nanos now) {
  auto& connection = connections_[index];
  connecting_.remove(index);
  connection.state = State::idle;
  connection.free_since = now;
  ++(connection.opened_before ? stats_.reopened : stats_.opened);
  if (connection.source != kNone) {
    auto& source = by_source_[connection.source];
    ++(connection.opened_before ? source.reopened : source.opened);
  }
  connection.opened_before = true;
  stats_.connect_time.record_nanos(now - connection.sent);
  control_.connection_opened(connection.source, now);
  resolve(connection);
  observer_->on_open(index, now);
}

void ConnectionSet::attempt_failed(std::uint32_t index, Failure failure, Nanos now) {
  auto& connection = connections_[index];
  connecting_.remove(index);
  drop_descriptor(index);
  if (connection.failures < UINT8_MAX) ++connection.failures;
  ++stats_.errors[error_key(failure)];
  if (failure.error == TransportError::refused) control_.refused.fetch_add(1, std::memory_order_relaxed);
  resolve(connection);
  reopen_later(index, now);
  observer_->on_open_failed(index, failure, now);
}

void ConnectionSet::resolve(Connection& connection) {
  if (connection.resolved) return;
  connection.resolved = true;
  report_.resolved.fetch_add(1, std::memory_order_relaxed);
}

void ConnectionSet::reopen_later(std::uint32_t index, Nanos now) {
  const auto& connection = connections_[index];
  if (!connection.wanted) return;
  const auto seed = token_of(index, connection.generation);
  // A connection that had served is opened again at once: an ordinary end of keep-alive costs no pause.
  const Nanos pause = connection.failures == 0 ? 0 : back_off(connection.failures, seed);
  reopenings_.add({now + pause, index, connection.generation});
}

void ConnectionSet::drop_descriptor(std::uint32_t index) {
  auto& connection = connections_[index];
  const bool was_open = connection.state == State::idle || connection.state == State::busy;
  if (connection.fd >= 0) ::close(connection.fd);
  connection.fd = -1;
  connection.state = State::closed;
  connection.partial.reset();
  if (was_open) control_.connection_closed(connection.source);
}

void ConnectionSet::close(std::uint32_t index) {
  auto& connection = connections_[index];
  connection.wanted = false;
  if (connection.state == State::connecting) connecting_.remove(index);
  drop_descriptor(index);
  // A reopening that was set before belongs to an earlier life.
  ++connection.generation;
}

// ---- sending -------------------------------------------------------------------------------------------

void ConnectionSet::send(std::uint32_t index, const Ticket& ticket) {
  auto& connection = connections_[index];
  connection.ticket = ticket;
  connection.state = State::busy;
  connection.written = 0;
  connection.first_byte = 0;
  connection.sent = monotonic_now();
  recorder_.lag(ticket.stage, connection.sent - std::max(ticket.due, connection.free_since));
  ++recorder_.cell(ticket.stage, ticket.request_class).counts.sent;
  recorder_.add_in_flight(ticket.stage, ticket.request_class, 1);
  ++in_flight_;
  if (is_measured(ticket)) measured_on_wire_.enter(connection.sent);
  busy_.append(index);
  write_rest(index);
}

void ConnectionSet::write_rest(std::uint32_t index) {
  auto& connection = connections_[index];
  const auto& bytes = bytes_of(connection);
  if (connection.written >= bytes.size()) return;
  const auto count = ::send(connection.fd, bytes.data() + connection.written,
                            bytes.size() - connection.written, MSG_NOSIGNAL);
  if (count >= 0) {
    connection.written += static_cast<std::uint32_t>(count);
    auto& counts = recorder_.cell(connection.ticket.stage, connection.ticket.request_class).counts;
    counts.bytes_sent += count;
  } else if (errno != EAGAIN && errno != EINTR) {
    broken_.push_back({index, connection.generation, errno});
  }
}

// ---- receiving -----------------------------------------------------------------------------------------

void ConnectionSet::handle(const epoll_event& event) {
  const auto index = static_cast<std::uint32_t>(event.data.u64);
  auto& connection = connections_[index];
  if (connection.generation != static_cast<std::uint32_t>(event.data.u64 >> 32) || connection.fd < 0) return;
  const bool closing = (event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
  if (connection.state == State::connecting) {
    if ((event.events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) == 0) return;
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(connection.fd, SOL_SOCKET, SO_ERROR, &error, &size);
    const Nanos now = monotonic_now();
    if (error != 0) return attempt_failed(index, attempt_failure(error), now);
    on_connected(index, now);
    if (!closing) return;
  } else if (connection.state == State::busy && (event.events & EPOLLOUT) != 0) {
    write_rest(index);
  }
  if ((event.events & EPOLLIN) != 0 || closing) on_readable(index, closing);
}

void ConnectionSet::on_readable(std::uint32_t index, bool closing) {
  const auto generation = connections_[index].generation;
  while (connections_[index].fd >= 0 && connections_[index].generation == generation) {
    const auto count = recv(connections_[index].fd, buffer_.data(), buffer_.size(), 0);
    const int error = errno;
    const Nanos now = monotonic_now();
    if (count > 0) {
      const auto size = static_cast<std::size_t>(count);
      take_bytes(index, {buffer_.data(), size}, closing, now);
      // A short read means that the socket is empty (epoll(7)); its end, if there is one, is still to be
      // read.
      if (size < buffer_.size() && !closing) return;
    } else if (count == 0) {
      return on_end_of_stream(index, now);
    } else if (error != EINTR) {
      if (error != EAGAIN) broken({index, generation, error}, now);
      return;
    }
  }
}

void ConnectionSet::take_bytes(std::uint32_t index, std::span<const char> bytes, bool closing, Nanos now) {
  auto& connection = connections_[index];
  if (connection.state != State::busy) {  // nobody asked
    lost(index, now);
    return;
  }
  auto& counts = recorder_.cell(connection.ticket.stage, connection.ticket.request_class).counts;
  counts.bytes_received += static_cast<std::int64_t>(bytes.size());
  if (connection.first_byte == 0) connection.first_byte = now;
  const bool first = connection.partial == nullptr;
  if (first) response_.reset(setup_.is_head[connection.ticket.request_class]);
  http::Response& response = first ? response_ : *connection.partial;
  switch (response.feed(bytes)) {
    case http::Progress::complete:
      return answered(index, response, closing, now);
    case http::Progress::malformed:
      return request_failed(index, {TransportError::malformed, 0}, now);
    case http::Progress::need_more:
      break;
  }
  if (first) {  // rare: the answer did not fit into one read, so its parser must outlive this call
    connection.partial = std::make_unique<http::Response>();
    connection.partial->reset(setup_.is_head[connection.ticket.request_class]);
    (void)connection.partial->feed(bytes);
  }
}

void ConnectionSet::on_end_of_stream(std::uint32_t index, Nanos now) {
  auto& connection = connections_[index];
  if (connection.state != State::busy) return lost(index, now);
  if (connection.partial && connection.partial->finish() == http::Progress::complete) {
    const auto response = std::move(connection.partial);
    return answered(index, *response, true, now);
  }
  request_failed(index, classify(connection, 0), now);
}

// What a connection that broke with `error` (0 = ended in good order) means for its request.
Failure ConnectionSet::classify(const Connection& connection, int error) const {
  const bool silent = connection.first_byte == 0;
  if (silent && connection.answered > 0 && (error == 0 || error == ECONNRESET || error == EPIPE)) {
    return {TransportError::stale_reuse, error};
  }
  if (error == 0) return {TransportError::truncated, 0};
  if (error == ECONNRESET || error == EPIPE) return {TransportError::reset, error};
  return {TransportError::other, error};
}

void ConnectionSet::broken(const Broken& broken, Nanos now) {
  const auto& connection = connections_[broken.index];
  if (connection.generation != broken.generation) return;
  if (connection.state == State::connecting)
    return attempt_failed(broken.index, attempt_failure(broken.error), now);
  if (connection.state == State::busy) {
    return request_failed(broken.index, classify(connection, broken.error), now);
  }
  if (connection.state == State::idle) lost(broken.index, now);
}

// ---- outcomes ------------------------------------------------------------------------------------------

void ConnectionSet::leave_wire(std::uint32_t index, Nanos now) {
  const auto& ticket = connections_[index].ticket;
  if (is_measured(ticket)) measured_on_wire_.leave(now);
  busy_.remove(index);
  recorder_.add_in_flight(ticket.stage, ticket.request_class, -1);
  --in_flight_;
}

void ConnectionSet::record_ok(const Connection& connection, Nanos now) {
  auto& cell = recorder_.cell(connection.ticket.stage, connection.ticket.request_class);
  ++cell.counts.ok;
  if (now <= load_end_) ++cell.counts.ok_in_time;
  cell.latency.answered.record_nanos(now - connection.ticket.due);
  cell.service.answered.record_nanos(now - connection.sent);
  cell.first_byte.answered.record_nanos(connection.first_byte - connection.sent);
}

void ConnectionSet::record_waiting(const Connection& connection, Nanos now) {
  auto& cell = recorder_.cell(connection.ticket.stage, connection.ticket.request_class);
  cell.latency.waiting.record_nanos(now - connection.ticket.due);
  cell.service.waiting.record_nanos(now - connection.sent);
  if (connection.first_byte != 0) {
    cell.first_byte.answered.record_nanos(connection.first_byte - connection.sent);
  } else {
    cell.first_byte.waiting.record_nanos(now - connection.sent);
  }
}

void ConnectionSet::answered(std::uint32_t index, const http::Response& response, bool closing, Nanos now) {
  auto& connection = connections_[index];
  const auto& spec = setup_.plan.requests[connection.ticket.request_class];
  const int status = response.status();
  auto& counts = recorder_.cell(connection.ticket.stage, connection.ticket.request_class).counts;
  if (status != spec.expect_status) {
    counts.failed_micros += record::Histogram::micros_of(now - connection.sent);
    // A code outside of the classes counts as a fault of the server (RFC 9110, 15).
    const auto first_digit = static_cast<std::size_t>(status / 100);
    ++counts.http_errors[first_digit >= 1 && first_digit <= 5 ? first_digit : 5];
    recorder_.row(Outcome::http_error, connection.ticket, connection.sent, now, status);
  } else if (spec.expect_body_bytes && response.body_bytes() != *spec.expect_body_bytes &&
             spec.method != "HEAD") {
    // Its end is known all the same, so the connection can be used again.
    counts.failed_micros += record::Histogram::micros_of(now - connection.sent);
    const Failure failure{TransportError::malformed, 0};
    counts.add_failure(failure);
    recorder_.row(Outcome::transport_error, connection.ticket, connection.sent, now, status, failure);
  } else {
    record_ok(connection, now);
    recorder_.row(Outcome::ok, connection.ticket, connection.sent, now, status);
  }
  ++connection.answered;
  const auto& limit = setup_.plan.requests_per_connection;
  const bool ours = !setup_.plan.keep_alive || (limit && connection.answered >= *limit);
  const bool reusable =
      !ours && !closing && response.keep_alive() && connection.written == bytes_of(connection).size();
  leave_wire(index, now);
  connection.partial.reset();
  connection.failures = 0;
  connection.free_since = now;
  connection.state = State::idle;
  if (!reusable) {
    if (!ours) count_lost(connection);
    drop_descriptor(index);
    reopen_later(index, now);
  }
  observer_->on_request_end(index, now);
}

void ConnectionSet::request_failed(std::uint32_t index, Failure failure, Nanos now) {
  auto& connection = connections_[index];
  auto& counts = recorder_.cell(connection.ticket.stage, connection.ticket.request_class).counts;
  counts.add_failure(failure);
  counts.failed_micros += record::Histogram::micros_of(now - connection.sent);
  recorder_.row(Outcome::transport_error, connection.ticket, connection.sent, now, 0, failure);
  leave_wire(index, now);
  count_lost(connection);
  // A server that ends every connection without an answer is not asked again at once.
  if (connection.answered == 0 && connection.failures < UINT8_MAX) ++connection.failures;
  drop_descriptor(index);
  reopen_later(index, now);
  observer_->on_request_end(index, now);
}

void ConnectionSet::timed_out(std::uint32_t index, Nanos now) {
  auto& connection = connections_[index];
  ++recorder_.cell(connection.ticket.stage, connection.ticket.request_class).counts.timeouts;
  record_waiting(connection, now);
  recorder_.row(Outcome::timeout, connection.ticket, connection.sent, now);
  leave_wire(index, now);
  drop_descriptor(index);  // its answer may still come, and must not meet the next request
  reopen_later(index, now);
  observer_->on_request_end(index, now);
}

// An idle connection that the server ended.
void ConnectionSet::lost(std::uint32_t index, Nanos now) {
  auto& connection = connections_[index];
  count_lost(connection);
  if (connection.answered == 0 && connection.failures < UINT8_MAX) ++connection.failures;
  drop_descriptor(index);
  reopen_later(index, now);
}

Nanos ConnectionSet::tend(Nanos now) {
  for (std::size_t i = 0; i < broken_.size(); ++i) broken(Broken{broken_[i]}, now);
  broken_.clear();
  const Nanos request_limit = setup_.plan.request_timeout;
  while (request_limit > 0 && busy_.oldest() != kNone &&
         connections_[busy_.oldest()].sent + request_limit <= now) {
    timed_out(busy_.oldest(), now);
  }
  const Nanos connect_limit = setup_.plan.connect_timeout;
  while (connect_limit > 0 && connecting_.oldest() != kNone &&
         connections_[connecting_.oldest()].sent + connect_limit <= now) {
    attempt_failed(connecting_.oldest(), {TransportError::connect_timeout, ETIMEDOUT}, now);
  }
  for (std::uint32_t batch = 0; batch < kOpenBatch && reopenings_.next() <= now; ++batch) {
    const Timer timer = reopenings_.pop();
    const auto& connection = connections_[timer.index];
    if (connection.generation == timer.generation && connection.wanted) open(timer.index);
  }
  Nanos next = broken_.empty() ? reopenings_.next() : now;
  if (request_limit > 0 && busy_.oldest() != kNone) {
    next = std::min(next, connections_[busy_.oldest()].sent + request_limit);
  }
  if (connect_limit > 0 && connecting_.oldest() != kNone) {
    next = std::min(next, connections_[connecting_.oldest()].sent + connect_limit);
  }
  return next;
}

void ConnectionSet::abandon(Nanos now) {
  for (auto index = busy_.oldest(); index != kNone; index = connections_[index].next) {
    record_waiting(connections_[index], now);
    recorder_.row(Outcome::in_flight, connections_[index].ticket, connections_[index].sent, now);
    if (is_measured(connections_[index].ticket)) measured_on_wire_.leave(now);
  }
  close_all();
}

void ConnectionSet::count_lost(const Connection& connection) {
  ++stats_.lost;
  if (connection.source != kNone) ++by_source_[connection.source].lost;
}

void ConnectionSet::close_all() {
  for (std::uint32_t i = 0; i < size(); ++i) {
    connections_[i].wanted = false;
    drop_descriptor(i);
  }
}

}  // namespace heddle::engine
