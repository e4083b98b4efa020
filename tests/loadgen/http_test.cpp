#include "loadgen/http/request.hpp"
#include "loadgen/http/response.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

plan::RequestSpec spec(std::string method = "GET", std::string path = "/a?b=c") {
  plan::RequestSpec request;
  request.method = std::move(method);
  request.path = std::move(path);
  return request;
}

TEST(BuildRequest, IsExactlyThis) {
  const plan::Url url{"127.0.0.1", 8080, "/", false};
  EXPECT_EQ(build_request(spec(), url, "", true), "GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n");
}

TEST(BuildRequest, BodyHeadersAndClose) {
  auto request = spec("POST", "/movies");
  request.body_file = "x/movies.json";
  request.headers = {{"Accept", "application/json"}};
  const plan::Url url{"::1", 80, "/base/", true};
  EXPECT_EQ(build_request(request, url, "[1]", false),
            "POST /base/movies HTTP/1.1\r\nHost: [::1]\r\nAccept: application/json\r\nConnection: close\r\n"
            "Content-Type: application/json\r\nContent-Length: 3\r\n\r\n[1]");
}

TEST(BuildRequest, GivenHeadersWin) {
  auto request = spec("POST");
  request.headers = {{"host", "elsewhere"}};
  const auto bytes = build_request(request, {"h", 80, "/", false}, "", true);
  EXPECT_THAT(bytes, Not(HasSubstr("Host: h")));
  EXPECT_THAT(build_request(spec("POST"), {"h", 80, "/", false}, "", true),
              HasSubstr("Content-Length: 0\r\n"));
}

TEST(BodyToSend, JsonLosesItsWhiteSpaceOnly) {
  EXPECT_EQ(body_to_send("[ 1.50 ,\n {\"a b\" : \"c \\\" d\\\\\" , \"e\":1e5} ]\n", "m.json"),
            "[1.50,{\"a b\":\"c \\\" d\\\\\",\"e\":1e5}]");
  EXPECT_EQ(body_to_send(" a b ", "m.txt"), " a b ");
  EXPECT_THROW((void)body_to_send("{", "m.json"), std::invalid_argument);
}

struct Answer {
  const char* name;
  std::string bytes;
  int status;
  std::int64_t body;
  bool keep_alive;
  bool to_head = false;
};

class Answers : public ::testing::TestWithParam<Answer> {};

void check(const Response& response) {
  const auto& expected = Answers::GetParam();
  EXPECT_EQ(response.status(), expected.status);
  EXPECT_EQ(response.body_bytes(), expected.body);
  EXPECT_EQ(response.keep_alive(), expected.keep_alive);
}

TEST_P(Answers, InOnePiece) {
  Response response;
  response.reset(GetParam().to_head);
  ASSERT_EQ(response.feed(GetParam().bytes), Progress::complete);
  check(response);
}

TEST_P(Answers, SplitAtEveryByte) {
  const std::string& bytes = GetParam().bytes;
  for (std::size_t split = 1; split < bytes.size(); ++split) {
    Response response;
    response.reset(GetParam().to_head);
    ASSERT_EQ(response.feed(std::string_view{bytes}.substr(0, split)), Progress::need_more) << split;
    ASSERT_EQ(response.feed(std::string_view{bytes}.substr(split)), Progress::complete) << split;
    check(response);
  }
}

TEST_P(Answers, ByteByByte) {
  Response response;
  response.reset(GetParam().to_head);
  const std::string& bytes = GetParam().bytes;
  for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
    ASSERT_EQ(response.feed({&bytes[i], 1}), Progress::need_more) << i;
  }
  ASSERT_EQ(response.feed({&bytes.back(), 1}), Progress::complete);
  check(response);
}

TEST_P(Answers, AnythingBehindItIsMalformed) {
  Response response;
  response.reset(GetParam().to_head);
  EXPECT_EQ(response.feed(GetParam().bytes + "x"), Progress::malformed);
}

INSTANTIATE_TEST_SUITE_P(
    All, Answers,
    ::testing::Values(
        Answer{"plain", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\nhello", 200, 5, true},
        Answer{"empty", "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", 404, 0, true},
        Answer{"close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\na", 200, 1, false},
        Answer{"http10", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", 200, 1, false},
        Answer{"http10keep", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\na", 200,
               1, true},
        Answer{"nocontent", "HTTP/1.1 204 No Content\r\n\r\n", 204, 0, true},
        Answer{"notmodified", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 304, 0, true},
        Answer{"head", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", 200, 0, true, true},
        Answer{"continue", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200,
               2, true},
        Answer{"chunked",
               "HTTP/1.1 200 OK\r\nTransfer-Encoding: "
               "chunked\r\n\r\n5\r\nhello\r\nA;x=y\r\n0123456789\r\n0\r\nT: v\r\n\r\n",
               200, 15, true}),
    [](const auto& answer) { return answer.param.name; });

Progress feed_all(std::string_view bytes) {
  Response response;
  response.reset(false);
  return response.feed(bytes);
}

TEST(Response, GarbageIsMalformed) {
  EXPECT_EQ(feed_all("SSH-2.0-OpenSSH_9\r\n\r\n"), Progress::malformed);
  EXPECT_EQ(feed_all("HTTP/1.1 abc OK\r\n\r\n"), Progress::malformed);
  EXPECT_EQ(feed_all("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"), Progress::malformed);
  EXPECT_EQ(feed_all("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), Progress::malformed);
}

TEST(Response, AnEndlessHeadIsMalformed) {
  Response response;
  response.reset(false);
  EXPECT_EQ(response.feed(std::string_view{"HTTP/1.1 200 OK\r\n"}), Progress::need_more);
  const std::string line = "X-Filler: " + std::string(1000, 'x') + "\r\n";
  auto progress = Progress::need_more;
  for (int i = 0; i < 100 && progress == Progress::need_more; ++i) progress = response.feed(line);
  EXPECT_EQ(progress, Progress::malformed);
}

TEST(Response, BodyUntilTheEndOfTheConnection) {
  Response response;
  response.reset(false);
  ASSERT_EQ(response.feed(std::string_view{"HTTP/1.1 200 OK\r\n\r\nsome bytes"}), Progress::need_more);
  EXPECT_EQ(response.finish(), Progress::complete);
  EXPECT_EQ(response.body_bytes(), 10);
}

TEST(Response, AnEndTooEarlyIsNoAnswer) {
  for (const char* part : {"", "HTTP/1.1 200 OK\r\nContent-",
                           "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", "HTTP/1.1 100 Continue\r\n\r\n",
                           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"}) {
    Response response;
    response.reset(false);
    EXPECT_EQ(response.feed(std::string_view{part}), Progress::need_more);
    EXPECT_EQ(response.finish(), Progress::malformed) << part;
  }
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
