#include "loadgen/record/counts.hpp"

#include <numeric>

#include <fmt/format.h>

namespace heddle::record {

std::string_view name_of(TransportError error) {
  switch (error) {
    case TransportError::refused:
      return "refused";
    case TransportError::connect_timeout:
      return "connectTimeout";
    case TransportError::reset:
      return "reset";
    case TransportError::stale_reuse:
      return "staleReuse";
    case TransportError::truncated:
      return "truncated";
    case TransportError::malformed:
      return "malformed";
    case TransportError::other:
      return "other";
  }
  return "other";
}

void Counts::add_failure(Failure failure) {
  ++transport[static_cast<std::size_t>(failure.error)];
  if (failure.error == TransportError::other) ++other[failure.code];
}

std::int64_t Counts::http_error_sum() const {
  return std::accumulate(http_errors.begin(), http_errors.end(), std::int64_t{0});
}

std::int64_t Counts::transport_sum() const {
  return std::accumulate(transport.begin(), transport.end(), std::int64_t{0});
}

void Counts::merge(const Counts& o) {
  planned += o.planned;
  sent += o.sent;
  shed += o.shed;
  unsent += o.unsent;
  ok += o.ok;
  ok_in_time += o.ok_in_time;
  for (std::size_t i = 0; i < http_errors.size(); ++i) http_errors[i] += o.http_errors[i];
  for (std::size_t i = 0; i < transport.size(); ++i) transport[i] += o.transport[i];
  for (const auto& [code, count] : o.other) other[code] += count;
  timeouts += o.timeouts;
  bytes_sent += o.bytes_sent;
  bytes_received += o.bytes_received;
  failed_micros += o.failed_micros;
}

std::string imbalance(const Counts& c) {
  const bool plan_holds = c.planned == c.sent + c.shed + c.unsent;
  const bool sent_holds = c.sent == c.ok + c.errors() + c.in_flight;
  if (plan_holds && sent_holds) return {};
  return fmt::format(
      "the balance does not hold: planned {} = sent {} + shed {} + unsent {}; sent {} = ok {} + HTTP errors "
      "{} + "
      "transport errors {} + timeouts {} + in flight {}",
      c.planned, c.sent, c.shed, c.unsent, c.sent, c.ok, c.http_error_sum(), c.transport_sum(), c.timeouts,
      c.in_flight);
}

std::string no_success(const Counts& c) {
  std::string out = fmt::format("no request succeeded: {} sent", c.sent);
  const auto add = [&out](std::int64_t count, std::string_view what) {
    if (count > 0) out += fmt::format(", {} {}", count, what);
  };
  for (std::size_t i = 1; i < c.http_errors.size(); ++i) add(c.http_errors[i], fmt::format("HTTP {}xx", i));
  for (std::size_t i = 0; i < kTransportErrors; ++i) {
    add(c.transport[i], name_of(static_cast<TransportError>(i)));
  }
  add(c.timeouts, "timeouts");
  add(c.in_flight, "without an answer at the end");
  add(c.shed, "shed");
  add(c.unsent, "never sent");
  return out;
}

void Cell::merge(const Cell& o) {
  counts.merge(o.counts);
  latency.merge(o.latency);
  service.merge(o.service);
  first_byte.merge(o.first_byte);
}

void Cell::clear() {
  counts = {};
  latency.clear();
  service.clear();
  first_byte.clear();
}

}  // namespace heddle::record
