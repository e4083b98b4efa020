// Answers that are cut at every byte on their way, right and wrong ones, through the whole engine: each lands
// in its class, the connection is used again only when it may be, and the balance holds. What the parser
// makes of them is in response_test.cpp.
#include "loadgen/http/response.hpp"
#include "tests/loadgen/engine_run.hpp"

#include <atomic>
#include <fstream>
#include <ostream>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::engine {
namespace {

using heddle::testing::counts_of;
using heddle::testing::FakeServer;
using heddle::testing::kHello;
using heddle::testing::of;
using heddle::testing::plan_for;
using heddle::testing::run;
using heddle::testing::Seen;
using Peer = FakeServer::Peer;
using Then = FakeServer::Then;
using record::TransportError;

enum class Class : std::uint8_t { ok, http_1xx, http_5xx, truncated, malformed };

struct Case {
  std::string name;
  std::string answer;
  Class expected;
  bool reused;
  Then then = Then::keep;
  int status = 200;
  std::string method = "GET";
};

std::ostream& operator<<(std::ostream& out, const Case& test) {
  return out << test.name;
}

std::int64_t count_of(const record::Counts& counts, Class expected) {
  switch (expected) {
    case Class::ok:
      return counts.ok;
    case Class::http_1xx:
      return counts.http_errors[1];
    case Class::http_5xx:
      return counts.http_errors[5];
    case Class::truncated:
      return of(counts, TransportError::truncated);
    case Class::malformed:
      return of(counts, TransportError::malformed);
  }
  return -1;
}

class Adversary : public ::testing::TestWithParam<Case> {};

// An answer that breaks the connection is the second one on it: a server that never answered anything on a
// connection is left alone for a while.
TEST_P(Adversary, CutAtEveryByte) {
  const auto& test = GetParam();
  const bool breaks = test.expected == Class::truncated || test.expected == Class::malformed;
  std::atomic<std::size_t> given{0};
  FakeServer server{[&](const Peer& peer, const Seen& seen) {
    if (breaks && seen.number == 0) {
      peer.write(kHello);
      return Then::keep;
    }
    peer.write_split(test.answer, given.fetch_add(1) % test.answer.size() + 1);
    return test.then;
  }};
  const auto cuts = static_cast<double>(test.answer.size());
  // Half as many again as there are places to cut, for a machine that does not get through with all.
  const double requests = 1.5 * cuts * (breaks ? 2 : 1);
  constexpr plan::Nanos duration = 300 * plan::kMillisecond;
  auto plan = plan_for(server.url(), plan::ConstantRate{requests / 0.3}, duration, 16);
  plan.requests[0].method = test.method;
  plan.requests[0].expect_status = test.status;
  const auto result = run(plan);
  const auto counts = counts_of(result);
  EXPECT_GE(given.load(), test.answer.size());
  const auto first_ones = breaks ? counts.ok : 0;
  EXPECT_EQ(count_of(counts, test.expected), counts.sent - counts.in_flight - first_ones);
  if (test.reused) {
    EXPECT_EQ(server.accepted(), 16);
    EXPECT_EQ(result.connections.lost, 0);
  } else {
    EXPECT_EQ(result.connections.lost, count_of(counts, test.expected));
    EXPECT_GE(result.connections.opened + result.connections.reopened, result.connections.lost);
  }
}

const std::string kOk = "HTTP/1.1 200 OK\r\n";
const std::string kChunked = kOk + "Transfer-Encoding: chunked\r\n\r\n";

INSTANTIATE_TEST_SUITE_P(
    Right, Adversary,
    ::testing::Values(
        Case{"length", kHello, Class::ok, true},
        Case{"chunked", kChunked + "5;a=b\r\nhello\r\nA\r\n0123456789\r\n0\r\nT: v\r\n\r\n", Class::ok, true},
        Case{"several_interim",
             "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + kHello,
             Class::ok, true},
        Case{"no_content", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", Class::ok, true,
             Then::keep, 204},
        Case{"not_modified", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", Class::ok, true,
             Then::keep, 304},
        Case{"head_with_length", kOk + "Content-Length: 100\r\n\r\n", Class::ok, true, Then::keep, 200,
             "HEAD"},
        Case{"head_with_chunked", kChunked, Class::ok, true, Then::keep, 200, "HEAD"},
        Case{"until_close", kOk + "\r\nall of it", Class::ok, false, Then::close},
        Case{"http10", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", Class::ok, false, Then::close},
        Case{"http10_keep_alive", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\na",
             Class::ok, true},
        Case{"http10_until_close", "HTTP/1.0 200 OK\r\n\r\nabc", Class::ok, false, Then::close},
        Case{"connection_close", kOk + "Connection: close\r\nContent-Length: 1\r\n\r\na", Class::ok, false,
             Then::close},
        // The server says that it will close, and does not: we do.
        Case{"connection_close_but_open", kOk + "Connection: close\r\nContent-Length: 1\r\n\r\na", Class::ok,
             false},
        Case{"folded_line", kOk + "X: a\r\n b\r\nContent-Length: 1\r\n\r\na", Class::ok, true},
        Case{"reason_empty", "HTTP/1.1 200 \r\nContent-Length: 1\r\n\r\na", Class::ok, true},
        Case{"switching_protocols", "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", Class::ok, false,
             Then::keep, 101},
        Case{"switching_nobody_asked_for", "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", Class::http_1xx,
             false}),
    [](const auto& one) { return one.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Wrong, Adversary,
    ::testing::Values(
        Case{"length_short", kOk + "Content-Length: 9\r\n\r\nhello", Class::truncated, false, Then::close},
        Case{"chunked_short", kChunked + "5\r\nhello\r\n", Class::truncated, false, Then::close},
        Case{"head_short", kOk + "Content-Len", Class::truncated, false, Then::close},
        Case{"interim_only", "HTTP/1.1 100 Continue\r\n\r\n", Class::truncated, false, Then::close},
        Case{"length_2_63", kOk + "Content-Length: 9223372036854775808\r\n\r\nhello", Class::truncated, false,
             Then::close},
        Case{"length_negative", kOk + "Content-Length: -1\r\n\r\n", Class::malformed, false},
        Case{"two_lengths", kOk + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", Class::malformed, false},
        Case{"length_and_chunked", kOk + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
             Class::malformed, false},
        Case{"chunk_size", kChunked + "5\r\nhello\r\nzz\r\n", Class::malformed, false},
        Case{"bare_lf", "HTTP/1.1 200 OK\nContent-Length: 1\n\n", Class::malformed, false},
        Case{"status_line", "HTTP/1.1 abc OK\r\n\r\n", Class::malformed, false},
        Case{"another_protocol", "220 smtp.example.org ready\r\n", Class::malformed, false},
        Case{"status_600", "HTTP/1.1 600 X\r\nContent-Length: 1\r\n\r\na", Class::http_5xx, true},
        Case{"status_099", "HTTP/1.1 099 X\r\nContent-Length: 1\r\n\r\na", Class::http_5xx, true}),
    [](const auto& one) { return one.param.name; });

// In the same segment as the answer, so that it is there before the connection is used again.
TEST(Garbage, BehindAnAnswerIsMalformed) {
  for (const std::string& garbage : {std::string{"x"}, kHello}) {
    FakeServer server{[&](const Peer& peer, const Seen& seen) {
      peer.write(seen.number == 0 ? kHello : kHello + garbage);
      return Then::keep;
    }};
    const auto result = run(plan_for(server.url(), plan::ConstantRate{40}, heddle::testing::kShort, 1));
    EXPECT_EQ(of(counts_of(result), TransportError::malformed), 10);
    EXPECT_EQ(counts_of(result).ok, 10);
  }
}

// A moment behind it: the connection lies idle, and is not used again.
TEST(Garbage, OnAnIdleConnectionEndsIt) {
  FakeServer server{[](const Peer& peer, const Seen& seen) {
    EXPECT_EQ(seen.number, 0);
    peer.write(kHello);
    peer.pause(std::chrono::milliseconds{20});
    peer.write(kHello);
    return Then::keep;
  }};
  const auto result = run(plan_for(server.url(), plan::ConstantRate{10}, heddle::testing::kShort, 1));
  EXPECT_EQ(counts_of(result).ok, 5);
  EXPECT_GE(result.connections.lost, 4);  // the last one may come when the run is over
}

std::string head_of(std::size_t size) {
  const std::string before = kOk + "Content-Length: 5\r\nX: ";
  return before + std::string(size - before.size() - 4, 'x') + "\r\n\r\nhello";
}

TEST(LargeHead, UpToTheLimitIsOkAndAboveIsMalformed) {
  for (const bool above : {false, true}) {
    const auto answer = head_of(http::kHeadLimit + (above ? 1 : 0));
    FakeServer server{[&](const Peer& peer, const Seen& seen) {
      if (seen.number == 0) {
        peer.write(kHello);
      } else {
        peer.write_split(answer, 1 + static_cast<std::size_t>(seen.number) * 20'000 % answer.size());
      }
      return Then::keep;
    }};
    const auto result = run(plan_for(server.url(), plan::ConstantRate{20}, heddle::testing::kShort, 1));
    const auto counts = counts_of(result);
    EXPECT_EQ(counts.ok, above ? 5 : 10);
    EXPECT_EQ(of(counts, TransportError::malformed), above ? 5 : 0);
  }
}

TEST(LargeBody, InManySmallChunksIsOneAnswer) {
  std::string answer = kChunked;
  constexpr int chunks = 4 * 1024 * 1024 / 64;
  for (int i = 0; i < chunks; ++i) answer += "40\r\n" + std::string(64, 'x') + "\r\n";
  answer += "0\r\n\r\n";
  FakeServer server{[&](const Peer& peer, const Seen&) {
    peer.write(answer);
    return Then::keep;
  }};
  auto plan = plan_for(server.url(), plan::ConstantRate{4}, heddle::testing::kShort, 1);
  plan.requests[0].expect_body_bytes = 64LL * chunks;
  plan.grace = 20 * plan::kSecond;  // for a slow machine; the run ends with the last answer
  const auto counts = counts_of(run(plan));
  EXPECT_EQ(counts.ok, 2);
  EXPECT_EQ(counts.bytes_received, 2 * static_cast<std::int64_t>(answer.size()));
}

std::int64_t resident_kib() {
  std::ifstream in{"/proc/self/statm"};
  std::int64_t size = 0;
  std::int64_t resident = 0;
  in >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE) / 1024;
}

// A gigabyte is announced, 16 MiB of it come.
TEST(LargeBody, IsNotKept) {
  const std::string part(64 * 1024, 'x');
  FakeServer server{[&](const Peer& peer, const Seen&) {
    peer.write(kOk + "Content-Length: 1073741824\r\n\r\n");
    for (int i = 0; i < 256 && peer.write(part); ++i) {
    }
    peer.hang();
    return Then::close;
  }};
  const auto before = resident_kib();
  const auto result = run(plan_for(server.url(), plan::ConstantRate{2}, heddle::testing::kShort, 1));
  EXPECT_LT(resident_kib() - before, 8 * 1024);
  EXPECT_EQ(counts_of(result).in_flight, 1);
  EXPECT_GE(counts_of(result).bytes_received, 16 * 1024 * 1024);
}

}  // namespace
}  // namespace heddle::engine
