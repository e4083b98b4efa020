#include "services/upstream/response_reader.hpp"

#include <cstring>
#include <string>
#include <string_view>

#include <boost/asio/error.hpp>
#include <gtest/gtest.h>

namespace heddle::upstream {
namespace {

struct Outcome {
  bool over = false;
  boost::system::error_code error;
};

Outcome feed(ResponseReader& reader, std::string_view bytes) {
  Outcome outcome;
  while (!bytes.empty() && !outcome.over) {
    const auto space = reader.space();
    const std::size_t count = std::min(space.size(), bytes.size());
    std::memcpy(space.data(), bytes.data(), count);
    bytes.remove_prefix(count);
    outcome.over = reader.on_read(count, outcome.error);
  }
  return outcome;
}

Outcome feed_eof(ResponseReader& reader) {
  Outcome outcome{false, boost::asio::error::eof};
  outcome.over = reader.on_read(0, outcome.error);
  return outcome;
}

constexpr std::string_view kPlain = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
constexpr std::string_view kChunked =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;ext=1\r\nllo\r\n0\r\nTrailer: "
    "x\r\n\r\n";

TEST(ResponseReader, ReadsAResponseSplitAnywhere) {
  for (const std::string_view text : {kPlain, kChunked}) {
    for (std::size_t split = 1; split < text.size(); ++split) {
      ResponseReader reader;
      EXPECT_FALSE(feed(reader, text.substr(0, split)).over) << split;
      const Outcome end = feed(reader, text.substr(split));
      ASSERT_TRUE(end.over) << split;
      EXPECT_FALSE(end.error) << split << ": " << end.error.message();
      EXPECT_TRUE(reader.reusable()) << split;
      const Reply reply = reader.take();
      EXPECT_EQ(reply.status, 200);
      EXPECT_EQ(reply.body, "hello");
      EXPECT_TRUE(reply.ok());
    }
  }
}

TEST(ResponseReader, ReadsByteByByte) {
  ResponseReader reader;
  for (const char& byte : kChunked.substr(0, kChunked.size() - 1))
    EXPECT_FALSE(feed(reader, {&byte, 1}).over);
  EXPECT_TRUE(feed(reader, kChunked.substr(kChunked.size() - 1)).over);
  EXPECT_EQ(reader.take().body, "hello");
}

TEST(ResponseReader, ABodyWithoutLengthEndsWithTheConnection) {
  ResponseReader reader;
  EXPECT_FALSE(feed(reader, "HTTP/1.1 200 OK\r\n\r\nhello").over);
  const Outcome end = feed_eof(reader);
  EXPECT_TRUE(end.over);
  EXPECT_FALSE(end.error);
  EXPECT_FALSE(reader.reusable());
  EXPECT_EQ(reader.take().body, "hello");
}

TEST(ResponseReader, AShortBodyIsAnError) {
  ResponseReader reader;
  EXPECT_FALSE(feed(reader, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello").over);
  EXPECT_TRUE(feed_eof(reader).error);
}

TEST(ResponseReader, TellsAStaleConnectionFromABrokenAnswer) {
  ResponseReader untouched;
  EXPECT_TRUE(feed_eof(untouched).error);
  EXPECT_FALSE(untouched.started());
  ResponseReader begun;
  EXPECT_FALSE(feed(begun, "HTTP/1.1 2").over);
  EXPECT_TRUE(begun.started());
}

TEST(ResponseReader, GarbageAndOverlongHeadersAreErrors) {
  ResponseReader garbage;
  EXPECT_TRUE(feed(garbage, "220 smtp ready\r\n\r\n").error);
  ResponseReader overlong;
  EXPECT_TRUE(feed(overlong, "HTTP/1.1 200 OK\r\nX: " + std::string(20'000, 'y') + "\r\n\r\n").error);
}

TEST(ResponseReader, IsNotReusableAfterCloseOrExtraBytes) {
  ResponseReader closing;
  EXPECT_TRUE(feed(closing, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").over);
  EXPECT_FALSE(closing.reusable());
  ResponseReader extra;
  EXPECT_TRUE(feed(extra, std::string(kPlain) + "HTTP/1.1 200").over);
  EXPECT_FALSE(extra.reusable());
}

TEST(ResponseReader, BodiesLargerThanTheBufferPass) {
  ResponseReader reader;
  const std::string body(100'000, 'z');
  EXPECT_TRUE(feed(reader, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + body).over);
  EXPECT_EQ(reader.take().body, body);
}

}  // namespace
}  // namespace heddle::upstream
