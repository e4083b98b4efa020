// Every answer in this table is read in one piece, cut at every byte, and byte by byte: the outcome is the
// same. Sections are those of RFC 9112 (HTTP/1.1) where no other document is named.
#include "loadgen/http/response.hpp"

#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::http {
namespace {

// `closed`: complete because the connection ended. `truncated`: the connection ended too early.
enum class End : std::uint8_t { complete, closed, truncated, malformed };

struct Outcome {
  End end = End::truncated;
  int status = 0;
  std::int64_t body = 0;
  bool keep_alive = false;
  bool operator==(const Outcome&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  constexpr std::array names{"complete", "closed", "truncated", "malformed"};
  return out << names[static_cast<std::size_t>(outcome.end)] << ", status " << outcome.status << ", body "
             << outcome.body << ", keep-alive " << outcome.keep_alive;
}

constexpr Outcome kMalformed{End::malformed};
constexpr Outcome kTruncated{End::truncated};

Outcome taken(const Response& response, End end) {
  return {end, response.status(), response.body_bytes(), response.keep_alive()};
}

// What comes of these pieces when the server closes after the last one.
Outcome outcome_of(const std::vector<std::string_view>& pieces, bool to_head) {
  Response response;
  response.reset(to_head);
  bool complete = false;
  for (const auto piece : pieces) {
    if (complete) return kMalformed;  // nobody asked for it
    const auto progress = response.feed(piece);
    if (progress == Progress::malformed) return kMalformed;
    complete = progress == Progress::complete;
  }
  if (complete) return taken(response, End::complete);
  return response.finish() == Progress::complete ? taken(response, End::closed) : kTruncated;
}

struct Case {
  std::string name;
  std::string bytes;
  Outcome expected;
  bool to_head = false;
};

std::ostream& operator<<(std::ostream& out, const Case& test) {
  return out << test.name;
}

constexpr Outcome complete(int status, std::int64_t body, bool keep_alive = true) {
  return {End::complete, status, body, keep_alive};
}
constexpr Outcome closed(int status, std::int64_t body) {
  return {End::closed, status, body, false};
}

class Answers : public ::testing::TestWithParam<Case> {
 protected:
  static Outcome of(const std::vector<std::string_view>& pieces) {
    return outcome_of(pieces, GetParam().to_head);
  }
};

TEST_P(Answers, InOnePiece) {
  EXPECT_EQ(of({GetParam().bytes}), GetParam().expected);
}

TEST_P(Answers, SplitAtEveryByte) {
  const std::string_view bytes = GetParam().bytes;
  for (std::size_t at = 1; at < bytes.size(); ++at) {
    ASSERT_EQ(of({bytes.substr(0, at), bytes.substr(at)}), GetParam().expected) << "split at " << at;
  }
}

TEST_P(Answers, SplitAtEveryPairOfBytes) {
  const std::string_view bytes = GetParam().bytes;
  for (std::size_t first = 1; first < bytes.size(); ++first) {
    for (std::size_t second = first + 1; second < bytes.size(); ++second) {
      ASSERT_EQ(of({bytes.substr(0, first), bytes.substr(first, second - first), bytes.substr(second)}),
                GetParam().expected)
          << "split at " << first << " and " << second;
    }
  }
}

TEST_P(Answers, ByteByByte) {
  std::vector<std::string_view> pieces;
  for (const char& byte : GetParam().bytes) pieces.emplace_back(&byte, 1);
  EXPECT_EQ(of(pieces), GetParam().expected);
}

TEST_P(Answers, AnythingBehindACompleteOneIsMalformed) {
  if (GetParam().expected.end != End::complete) return;
  const std::string more = GetParam().bytes + "x";
  EXPECT_EQ(of({more}), kMalformed);
  EXPECT_EQ(of({GetParam().bytes, "x"}), kMalformed);
}

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

const std::string kOk = "HTTP/1.1 200 OK\r\n";
const std::string kChunked = kOk + "Transfer-Encoding: chunked\r\n\r\n";

// 6.3: how long the body is, in the order of that section's rules.
INSTANTIATE_TEST_SUITE_P(
    Length, Answers,
    ::testing::Values(
        Case{"head_with_length", kOk + "Content-Length: 100\r\n\r\n", complete(200, 0), true},
        Case{"head_with_chunked", kChunked, complete(200, 0), true},
        Case{"head_without_length", kOk + "\r\n", complete(200, 0), true},
        Case{"no_content", "HTTP/1.1 204 No Content\r\n\r\n", complete(204, 0)},
        Case{"no_content_with_length", "HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n",
             complete(204, 0)},
        Case{"no_content_with_chunked", "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n",
             complete(204, 0)},
        Case{"not_modified_with_length", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
             complete(304, 0)},
        Case{"not_modified_with_chunked", "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n",
             complete(304, 0)},
        Case{"length", kOk + "Content-Length: 5\r\nX: y\r\n\r\nhello", complete(200, 5)},
        Case{"length_of_the_head", kOk + "Content-Length: 39\r\n\r\n" + std::string(39, 'x'),
             complete(200, 39)},
        Case{"length_zero", "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", complete(404, 0)},
        Case{"length_short", kOk + "Content-Length: 6\r\n\r\nhello", kTruncated},
        Case{"until_close", kOk + "\r\nsome bytes", closed(200, 10)},
        Case{"until_close_empty", kOk + "\r\n", closed(200, 0)},
        Case{"last_encoding_not_chunked", kOk + "Transfer-Encoding: chunked, gzip\r\n\r\n5\r\nhello",
             closed(200, 8)},
        Case{"encoding_and_chunked", kOk + "Transfer-Encoding: gzip, chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
             complete(200, 1)},
        // "ought to be handled as an error"
        Case{"length_and_chunked", kOk + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
             kMalformed},
        Case{"chunked_and_length", kOk + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
             kMalformed},
        Case{"length_and_gzip", kOk + "Content-Length: 5\r\nTransfer-Encoding: gzip\r\n\r\nhello",
             kMalformed},
        Case{"gzip_and_length", kOk + "Transfer-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",
             kMalformed},
        Case{"same_length_twice", kOk + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nok", complete(200, 2)},
        Case{"same_length_in_a_list", kOk + "Content-Length: 2, 2\r\n\r\nok", complete(200, 2)},
        Case{"two_lengths", kOk + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nok", kMalformed},
        Case{"two_lengths_in_a_list", kOk + "Content-Length: 2, 3\r\n\r\nok", kMalformed},
        Case{"length_negative", kOk + "Content-Length: -1\r\n\r\n", kMalformed},
        Case{"length_with_plus", kOk + "Content-Length: +1\r\n\r\na", kMalformed},
        Case{"length_in_hex", kOk + "Content-Length: 0x1\r\n\r\na", kMalformed},
        Case{"length_empty", kOk + "Content-Length:\r\n\r\n", kMalformed},
        Case{"length_with_blank", kOk + "Content-Length: 1 1\r\n\r\na", kMalformed},
        // 2^63 and 2^64 - 1 are lengths, only nobody sends so much; 2^64 has no 64-bit value (RFC 9110, 8.6).
        Case{"length_2_63", kOk + "Content-Length: 9223372036854775808\r\n\r\nhello", kTruncated},
        Case{"length_2_64_less_1", kOk + "Content-Length: 18446744073709551615\r\n\r\nhello", kTruncated},
        Case{"length_2_64", kOk + "Content-Length: 18446744073709551616\r\n\r\nhello", kMalformed}),
    name_of);

// 7.1
INSTANTIATE_TEST_SUITE_P(
    Chunks, Answers,
    ::testing::Values(
        Case{"chunks_with_extensions_and_trailers",
             kChunked + "5\r\nhello\r\nA;x=y;z=\"q\"\r\n0123456789\r\n0;end\r\nT: v\r\nU: w\r\n\r\n",
             complete(200, 15)},
        Case{"chunked_empty", kChunked + "0\r\n\r\n", complete(200, 0)},
        Case{"chunk_size_with_zeros", kChunked + "00001\r\na\r\n000\r\n\r\n", complete(200, 1)},
        Case{"chunk_size_lower_and_upper", kChunked + "a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n",
             complete(200, 20)},
        Case{"chunk_holds_line_ends", kChunked + "6\r\n\r\n\r\n\r\n\r\n0\r\n\r\n", complete(200, 6)},
        Case{"chunked_ends_before_the_last", kChunked + "5\r\nhello\r\n", kTruncated},
        Case{"chunked_ends_in_a_chunk", kChunked + "5\r\nhel", kTruncated},
        Case{"chunked_ends_in_trailers", kChunked + "0\r\nT: v\r\n", kTruncated},
        Case{"chunked_ends_before_any", kChunked, kTruncated},
        Case{"chunk_size_no_number", kChunked + "zz\r\n", kMalformed},
        Case{"chunk_size_empty", kChunked + "\r\n0\r\n\r\n", kMalformed},
        Case{"chunk_size_negative", kChunked + "-1\r\na\r\n0\r\n\r\n", kMalformed},
        Case{"chunk_size_with_prefix", kChunked + "0x1\r\na\r\n0\r\n\r\n", kMalformed},
        Case{"chunk_size_over_64_bits", kChunked + "10000000000000000\r\na\r\n0\r\n\r\n", kMalformed},
        Case{"chunk_size_2_63", kChunked + "8000000000000000\r\nabc", kTruncated},
        Case{"chunk_longer_than_its_size", kChunked + "1\r\nabc\r\n0\r\n\r\n", kMalformed},
        Case{"chunk_without_line_end", kChunked + "1\r\na0\r\n\r\n", kMalformed},
        // Trailers that frame the body are ignored (RFC 9110, 6.5.1).
        Case{"length_among_trailers", kChunked + "0\r\nContent-Length: 5\r\n\r\n", complete(200, 0)},
        Case{"chunk_size_padded", kChunked + "1  \r\na\r\n0 \t;x\r\n\r\n", complete(200, 1)},
        Case{"chunk_size_and_more", kChunked + "1 x\r\na\r\n0\r\n\r\n", kMalformed},
        Case{"chunk_size_with_bare_lf", kChunked + "1\na\n0\n\n", kMalformed},
        Case{"chunk_extension_with_control_byte", kChunked + "1;\x01\r\na\r\n0\r\n\r\n", kMalformed},
        Case{"chunk_extension_open_quote", kChunked + "1;x=\"\r\na\r\n0\r\n\r\n", complete(200, 1)},
        Case{"trailer_folded", kChunked + "0\r\nT: v\r\n w\r\n\r\n", complete(200, 0)},
        Case{"trailer_folded_onto_nothing", kChunked + "0\r\n w\r\n\r\n", kMalformed},
        Case{"trailer_without_colon", kChunked + "0\r\nT\r\n\r\n", kMalformed},
        Case{"trailer_with_bare_lf", kChunked + "0\r\nT: v\n\r\n", kMalformed},
        Case{"chunked_twice",
             kOk + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", kMalformed}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Connections, Answers,
    ::testing::Values(
        Case{"close", kOk + "Connection: close\r\nContent-Length: 1\r\n\r\na", complete(200, 1, false)},
        Case{"close_in_a_list", kOk + "Connection: foo, Close\r\nContent-Length: 1\r\n\r\na",
             complete(200, 1, false)},
        Case{"close_with_empty_list_element", kOk + "Connection: , close,\r\nContent-Length: 1\r\n\r\na",
             complete(200, 1, false)},
        Case{"http10", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", complete(200, 1, false)},
        Case{"http10_keep_alive", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\na",
             complete(200, 1)},
        Case{"http10_until_close", "HTTP/1.0 200 OK\r\n\r\nabc", closed(200, 3)},
        Case{"http10_keep_alive_until_close", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nabc",
             closed(200, 3)},
        // 6.1: faulty framing; the connection must be closed after the message.
        Case{"http10_chunked",
             "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"
             "\r\n",
             complete(200, 1, false)}),
    name_of);

// RFC 9110, 15.2 and 15: interim answers, and codes outside of the classes.
INSTANTIATE_TEST_SUITE_P(
    Status, Answers,
    ::testing::Values(
        Case{"continue", "HTTP/1.1 100 Continue\r\n\r\n" + kOk + "Content-Length: 2\r\n\r\nok",
             complete(200, 2)},
        Case{"several_interim",
             "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\nX: y\r\n\r\nHTTP/1.1 103 Early "
             "Hints\r\nLink: </a>\r\nContent-Length: 7\r\n\r\n" +
                 kOk + "Content-Length: 2\r\n\r\nok",
             complete(200, 2)},
        Case{"interim_to_head", "HTTP/1.1 100 Continue\r\n\r\n" + kOk + "Content-Length: 2\r\n\r\n",
             complete(200, 0), true},
        Case{"interim_before_until_close", "HTTP/1.1 103 Early Hints\r\n\r\n" + kOk + "\r\nabc",
             closed(200, 3)},
        Case{"interim_only", "HTTP/1.1 100 Continue\r\n\r\n", kTruncated},
        Case{"switching_protocols", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
             complete(101, 0, false)},
        Case{"status_600", "HTTP/1.1 600 X\r\nContent-Length: 1\r\n\r\na", complete(600, 1)},
        Case{"status_999", "HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n", complete(999, 0)},
        Case{"status_099", "HTTP/1.1 099 X\r\nContent-Length: 1\r\n\r\na", complete(99, 1)},
        Case{"status_of_two_digits", "HTTP/1.1 99 X\r\n\r\n", kMalformed},
        Case{"status_of_four_digits", "HTTP/1.1 2000 X\r\n\r\n", kMalformed},
        Case{"status_no_number", "HTTP/1.1 abc OK\r\n\r\n", kMalformed},
        Case{"reason_empty", "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", complete(200, 0)},
        Case{"reason_with_bytes_beyond_ascii", "HTTP/1.1 200 \xe4\xf6 \xfc\r\nContent-Length: 0\r\n\r\n",
             complete(200, 0)},
        Case{"no_blank_behind_the_status", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", kMalformed}),
    name_of);

// 2.2, 2.3, 5
INSTANTIATE_TEST_SUITE_P(
    Heads, Answers,
    ::testing::Values(
        Case{"folded_line", kOk + "X: a\r\n b\r\n\tc\r\nContent-Length: 1\r\n\r\na", complete(200, 1)},
        Case{"folded_length", kOk + "Content-Length:\r\n 1\r\n\r\na", complete(200, 1)},
        Case{"blank_before_the_colon", kOk + "Content-Length : 1\r\n\r\na", kMalformed},
        Case{"no_blank_behind_the_colon", kOk + "Content-Length:1\r\n\r\na", complete(200, 1)},
        Case{"blanks_around_the_value", kOk + "Content-Length: \t 1 \t\r\n\r\na", complete(200, 1)},
        Case{"name_in_any_case", kOk + "cOnTeNt-LeNgTh: 1\r\n\r\na", complete(200, 1)},
        Case{"value_empty", kOk + "X:\r\nContent-Length: 1\r\n\r\na", complete(200, 1)},
        Case{"name_empty", kOk + ": x\r\n\r\n", kMalformed},
        Case{"no_colon", kOk + "nonsense\r\n\r\n", kMalformed},
        Case{"zero_byte_in_a_value", kOk + std::string{"X: a\0b\r\n\r\n", 11}, kMalformed},
        Case{"bare_lf", "HTTP/1.1 200 OK\nContent-Length: 1\n\na", kMalformed},
        Case{"bare_lf_between_headers", kOk + "X: y\nContent-Length: 1\r\n\r\na", kMalformed},
        Case{"bare_cr_in_a_value", kOk + "X: a\rb\r\n\r\n", kMalformed},
        Case{"empty_line_first", "\r\n" + kOk + "Content-Length: 0\r\n\r\n", kMalformed},
        Case{"another_protocol", "SSH-2.0-OpenSSH_9\r\n", kMalformed},
        Case{"http2_preface", std::string{"\0\0\x12\4\0\0\0\0\0", 9}, kMalformed},
        Case{"http_2", "HTTP/2 200 \r\n\r\n", kMalformed}, Case{"http_0_9", "<html>hello</html>", kMalformed},
        Case{"lower_case_http", "http/1.1 200 OK\r\n\r\n", kMalformed},
        Case{"ends_in_the_status_line", "HTTP/1.1 20", kTruncated},
        Case{"ends_in_a_header", kOk + "Content-Le", kTruncated},
        Case{"ends_before_the_empty_line", kOk + "Content-Length: 0\r\n", kTruncated},
        Case{"nothing_at_all", "", kTruncated},
        Case{"a_second_answer_nobody_asked_for",
             kOk + "Content-Length: 0\r\n\r\n" + kOk + "Content-Length: 0\r\n\r\n", kMalformed}),
    name_of);

std::string head_of(std::size_t size) {
  const std::string before = kOk + "Content-Length: 2\r\nX: ";
  const std::string behind = "\r\n\r\n";
  return before + std::string(size - before.size() - behind.size(), 'x') + behind;
}

TEST(HeadLimit, IsExactHoweverTheHeadIsCut) {
  const std::string fits = head_of(kHeadLimit) + "ok";
  const std::string does_not = head_of(kHeadLimit + 1) + "ok";
  for (const std::size_t cut : {std::size_t{1}, std::size_t{30}, std::size_t{1'460}, std::size_t{40'000},
                                std::size_t{kHeadLimit} - 1, std::size_t{kHeadLimit}, fits.size()}) {
    const auto in_pieces = [cut](const std::string& bytes) {
      std::vector<std::string_view> pieces;
      for (std::size_t at = 0; at < bytes.size(); at += cut) {
        pieces.push_back(std::string_view{bytes}.substr(at, cut));
      }
      return pieces;
    };
    EXPECT_EQ(outcome_of(in_pieces(fits), false), complete(200, 2)) << "in pieces of " << cut;
    EXPECT_EQ(outcome_of(in_pieces(does_not), false), kMalformed) << "in pieces of " << cut;
  }
}

// Short lines for ever: the limit is one of the head, not of what is left of it.
TEST(HeadLimit, HoldsForManyShortLinesToo) {
  const std::string line = "X-Filler: " + std::string(1000, 'x') + "\r\n";
  Response response;
  response.reset(false);
  ASSERT_EQ(response.feed(kOk), Progress::need_more);
  std::size_t fed = kOk.size();
  while (fed < kHeadLimit + line.size() && response.feed(line) == Progress::need_more) fed += line.size();
  EXPECT_LT(fed, kHeadLimit);
}

TEST(HeadLimit, HoldsForTheLinesBetweenChunksAndForTrailers) {
  for (const std::string& begin : {std::string{"5;x="}, std::string{"0\r\nT: "}}) {
    Response response;
    response.reset(false);
    ASSERT_EQ(response.feed(kChunked + begin), Progress::need_more);
    const std::string filler(1000, 'x');
    auto progress = Progress::need_more;
    for (int i = 0; i < 100 && progress == Progress::need_more; ++i) progress = response.feed(filler);
    EXPECT_EQ(progress, Progress::malformed);
  }
}

// 4 MB in chunks of 16 bytes, read in segments of many sizes: no byte is looked at more than about twice.
TEST(Response, ManySmallChunksCostWhatTheyWeigh) {
  std::string bytes = kChunked;
  constexpr int chunks = 4 * 1024 * 1024 / 16;
  for (int i = 0; i < chunks; ++i) bytes += "10\r\n0123456789abcdef\r\n";
  bytes += "0\r\n\r\n";
  for (const std::size_t segment : {std::size_t{64}, std::size_t{1'460}, std::size_t{64 * 1024}}) {
    Response response;
    response.reset(false);
    auto progress = Progress::need_more;
    for (std::size_t at = 0; at < bytes.size() && progress == Progress::need_more; at += segment) {
      progress = response.feed(std::string_view{bytes}.substr(at, segment));
    }
    EXPECT_EQ(progress, Progress::complete);
    EXPECT_EQ(response.body_bytes(), 16LL * chunks);
    EXPECT_LT(response.work(), 3 * static_cast<std::int64_t>(bytes.size()) / 2) << segment;
  }
}

TEST(Response, AHeadByteByByteIsLookedAtOnce) {
  const std::string bytes = head_of(kHeadLimit);
  Response response;
  response.reset(true);
  for (const char& byte : bytes) (void)response.feed({&byte, 1});
  EXPECT_EQ(response.status(), 200);
  EXPECT_EQ(response.work(), static_cast<std::int64_t>(bytes.size()));
}

TEST(Response, CanBeUsedAgain) {
  Response response;
  response.reset(false);
  EXPECT_EQ(response.feed(std::string_view{"HTTP/1.1 200 O"}), Progress::need_more);
  response.reset(false);
  EXPECT_EQ(response.feed(std::string_view{"HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n"}),
            Progress::complete);
  EXPECT_EQ(response.status(), 500);
}

}  // namespace
}  // namespace heddle::http
