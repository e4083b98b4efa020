#include "loadgen/http/request.hpp"

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
  const auto url = plan::parse_url("http://127.0.0.1:8080");
  EXPECT_EQ(build_request(spec(), url, "", true), "GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n");
}

TEST(BuildRequest, BodyHeadersAndClose) {
  auto request = spec("POST", "/movies");
  request.body_file = "x/movies.json";
  request.headers = {{"Accept", "application/json"}};
  const auto url = plan::parse_url("http://[::1]/base/");
  EXPECT_EQ(build_request(request, url, "[1]", false),
            "POST /base/movies HTTP/1.1\r\nHost: [::1]\r\nAccept: application/json\r\nConnection: close\r\n"
            "Content-Type: application/json\r\nContent-Length: 3\r\n\r\n[1]");
}

TEST(BuildRequest, GivenHeadersWin) {
  auto request = spec("POST");
  request.headers = {{"host", "elsewhere"}};
  const auto bytes = build_request(request, plan::parse_url("http://h"), "", true);
  EXPECT_THAT(bytes, Not(HasSubstr("Host: h")));
  EXPECT_THAT(build_request(spec("POST"), plan::parse_url("http://h"), "", true),
              HasSubstr("Content-Length: 0\r\n"));
}

TEST(BodyToSend, JsonLosesItsWhiteSpaceOnly) {
  EXPECT_EQ(body_to_send("[ 1.50 ,\n {\"a b\" : \"c \\\" d\\\\\" , \"e\":1e5} ]\n", "m.json"),
            "[1.50,{\"a b\":\"c \\\" d\\\\\",\"e\":1e5}]");
  EXPECT_EQ(body_to_send(" a b ", "m.txt"), " a b ");
  EXPECT_THROW((void)body_to_send("{", "m.json"), std::invalid_argument);
}

}  // namespace
}  // namespace heddle::http
