#include "services/api/call.hpp"
#include "services/api/json.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace heddle::api {
namespace {

TEST(EpochMillisResponse, IsAJsonNumber) {
  const auto now = std::chrono::system_clock::time_point{std::chrono::microseconds{1'700'000'000'123'999}};
  const Response response = epoch_millis_response(now);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(response.body, "1700000000123");
}

TEST(HealthResponse, TellsTheApproach) {
  const Response response = health_response("fibers-restinio");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(response.body, R"({"status":"up","approach":"fibers-restinio"})");
}

TEST(MoviesResponse, IsTheArray) {
  EXPECT_EQ(movies_response({}).body, "[]");
  EXPECT_EQ(movies_response({}).content_type, "application/json");
  EXPECT_EQ(movies_response({}).status, 200);
}

TEST(Problem, TitleComesFromTheStatus) {
  EXPECT_EQ(problem(503, "pool: full").body,
            R"({"type":"about:blank","title":"Service Unavailable","status":503,"detail":"pool: full"})");
  EXPECT_EQ(reason_phrase(502), "Bad Gateway");
  EXPECT_EQ(reason_phrase(504), "Gateway Timeout");
  EXPECT_EQ(reason_phrase(500), "Internal Server Error");
  EXPECT_EQ(reason_phrase(299), "Error");
}

TEST(Problem, EscapesTheDetail) {
  EXPECT_EQ(problem(400, "a\"b\\c\n\x01").body,
            R"({"type":"about:blank","title":"Bad Request","status":400,"detail":"a\"b\\c\n\u0001"})");
}

}  // namespace
}  // namespace heddle::api
