// Every answer with which parse_call turns a request down, to the byte.
#include "services/api/call.hpp"
#include "tests/services/api/support.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace heddle::api {
namespace {

using test::get;
using test::post;
using test::refused;

std::string body(int status, std::string_view title, std::string_view detail) {
  return R"({"type":"about:blank","title":")" + std::string(title) + R"(","status":)" +
         std::to_string(status) + R"(,"detail":")" + std::string(detail) + R"("})";
}

void expect_problem(const Response& response, int status, std::string_view title, std::string_view detail) {
  EXPECT_EQ(response.status, status);
  EXPECT_EQ(response.content_type, "application/problem+json");
  EXPECT_EQ(response.body, body(status, title, detail));
  EXPECT_EQ(response.allow.empty(), status != 405);
}

void expect_bad(const Request& request, std::string_view detail) {
  SCOPED_TRACE(std::string(request.target) + " " + std::string(request.body));
  expect_problem(refused(request), 400, "Bad Request", detail);
}

TEST(Refusal, UnknownPathAndOtherApproach) {
  for (const auto path :
       {"/", "", "*", "/fibers-restinio", "/fibers-restinio/", "/fibers-restinio/movies/",
        "/fibers-restinio/movies/1", "/fibers-restinioo/movies", "/reactor-restinio/movies", "/health/x",
        "http://127.0.0.1/fibers-restinio/movies", "/nothing?delayCallDepth=1"}) {
    SCOPED_TRACE(path);
    expect_problem(
        refused(get(path)), 404, "Not Found",
        "path: found another one, accepted are /{approach}/epoch-millis, /{approach}/movies, /health "
        "and /metrics, where {approach} is the one that /health tells");
  }
}

TEST(Refusal, OtherMethodsNameTheAllowedOnes) {
  const std::vector<Method> never{Method::head,  Method::put,     Method::delete_,
                                  Method::patch, Method::options, Method::other};
  for (const Method method : never) {
    const Response movies =
        refused({.method = method, .target = "/fibers-restinio/movies", .content_type = {}, .body = {}});
    expect_problem(movies, 405, "Method Not Allowed",
                   "method: found another one, accepted on this path: GET, POST");
    EXPECT_EQ(movies.allow, "GET, POST");
    for (const auto path : {"/fibers-restinio/epoch-millis", "/health", "/metrics"}) {
      const Response response = refused({.method = method, .target = path, .content_type = {}, .body = {}});
      expect_problem(response, 405, "Method Not Allowed",
                     "method: found another one, accepted on this path: GET");
      EXPECT_EQ(response.allow, "GET");
    }
  }
  EXPECT_EQ(refused(post("/fibers-restinio/epoch-millis", "[]")).allow, "GET");
}

TEST(Refusal, ContentTypeOfAPost) {
  const auto expect_type = [](std::string_view type, std::string_view found) {
    expect_problem(refused(post("/fibers-restinio/movies", "[]", type)), 415, "Unsupported Media Type",
                   "Content-Type: found " + std::string(found) + ", accepted is application/json");
  };
  expect_type("", "nothing");
  expect_type("text/plain", R"(\"text/plain\")");
  expect_type("application/jsonx", R"(\"application/jsonx\")");
  expect_type("application/problem+json", R"(\"application/problem+json\")");
}

TEST(Refusal, BodyAboveTheLimit) {
  const std::string limit(kMaxBodyBytes, ' ');
  expect_problem(refused(post("/fibers-restinio/movies", limit + " ")), 413, "Content Too Large",
                 "body: found 1048577 bytes, accepted are 1048576 at most");
  EXPECT_EQ(refused(post("/fibers-restinio/movies", limit)).status, 400) << "blanks of the right size";
}

TEST(Refusal, DepthOutsideItsRange) {
  for (const std::string value : {"-1", "101", "1.5", "abc", "", "1 ", "0x1", "99999999999999999999"}) {
    std::string encoded;
    for (const char c : value) encoded += c == ' ' ? std::string("%20") : std::string(1, c);
    const std::string target = "/fibers-restinio/epoch-millis?delayCallDepth=" + encoded;
    expect_bad(get(target),
               R"(delayCallDepth: found \")" + value + R"(\", accepted is an integer from 0 to 100)");
  }
}

TEST(Refusal, DelayOutsideItsRange) {
  for (const std::string value : {"-5", "600001", "x"}) {
    const std::string target = "/fibers-restinio/movies?directorLastName=Allen&delayInMillis=" + value;
    expect_bad(get(target),
               R"(delayInMillis: found \")" + value + R"(\", accepted is an integer from 0 to 600000)");
  }
}

TEST(Refusal, AParameterWithoutAValueIsEmpty) {
  expect_bad(get("/fibers-restinio/epoch-millis?delayCallDepth"),
             R"(delayCallDepth: found \"\", accepted is an integer from 0 to 100)");
}

TEST(Refusal, DirectorIsRequiredToFindMovies) {
  for (const auto target :
       {"/fibers-restinio/movies", "/fibers-restinio/movies?",
        "/fibers-restinio/movies?directorLastName=", "/fibers-restinio/movies?directorlastname=Allen"}) {
    expect_bad(get(target), "directorLastName: found nothing, accepted is the last name of a director");
  }
}

TEST(Refusal, AParameterTwice) {
  expect_bad(get("/fibers-restinio/movies?directorLastName=Allen&directorLastName=Allen"),
             "directorLastName: found more than once, accepted is one value");
  expect_bad(get("/fibers-restinio/epoch-millis?delayCallDepth=1&x=2&delayCallDepth=1"),
             "delayCallDepth: found more than once, accepted is one value");
  expect_bad(post("/fibers-restinio/movies?delayInMillis=1&delayIn%4Dillis=1", "[]"),
             "delayInMillis: found more than once, accepted is one value");
}

TEST(Refusal, AQueryThatIsNone) {
  for (const std::string query : {"a=%", "a=%4", "a=%zz", "directorLastName=A B", "a=\"", "a=#"}) {
    const Response response = refused(get("/fibers-restinio/movies?" + query));
    EXPECT_EQ(response.status, 400) << query;
    EXPECT_NE(response.body.find("query: found "), std::string::npos) << response.body;
  }
  expect_bad(get("/fibers-restinio/movies?x=%zz"),
             R"(query: found \"x=%zz\", accepted is a query as in RFC 3986, with other bytes as %XX)");
}

TEST(Refusal, WhatAClientSentComesBackShortAndPrintable) {
  const std::string target = "/fibers-restinio/epoch-millis?delayCallDepth=%00%ff" + std::string(100, '9');
  expect_bad(get(target), R"(delayCallDepth: found \"%00%FF)" + std::string(62, '9') +
                              R"(...\", accepted is an integer from 0 to 100)");
}

TEST(Refusal, PathThenMethodThenTypeThenParametersThenJson) {
  EXPECT_EQ(refused(post("/nothing?delayCallDepth=x", "x", "text/plain")).status, 404);
  EXPECT_EQ(refused(post("/fibers-restinio/epoch-millis?delayCallDepth=x", "x", "text/plain")).status, 405);
  EXPECT_EQ(refused(post("/fibers-restinio/movies?delayCallDepth=x", "x", "text/plain")).status, 415);
  expect_bad(post("/fibers-restinio/movies?delayCallDepth=x", "x"),
             R"(delayCallDepth: found \"x\", accepted is an integer from 0 to 100)");
}

}  // namespace
}  // namespace heddle::api
