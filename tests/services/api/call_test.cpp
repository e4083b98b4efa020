#include "services/api/call.hpp"

#include "tests/services/api/support.hpp"

#include <string>

#include <gtest/gtest.h>

namespace heddle::api {
namespace {

using std::chrono::milliseconds;
using test::accepted;
using test::get;
using test::kApproach;
using test::post;
using test::refused;

TEST(ParseCall, EpochMillisHasDefaults) {
  const Call call = accepted(get("/fibers-restinio/epoch-millis"));
  EXPECT_EQ(call.endpoint, Endpoint::epoch_millis);
  EXPECT_EQ(call.depth, 0);
  EXPECT_EQ(call.delay, milliseconds{100});
}

TEST(ParseCall, ReadsDepthAndDelayInAnyOrder) {
  const Call call = accepted(get("/fibers-restinio/epoch-millis?delayInMillis=7&delayCallDepth=2"));
  EXPECT_EQ(call.depth, 2);
  EXPECT_EQ(call.delay, milliseconds{7});
}

TEST(ParseCall, AcceptsBothEndsOfTheRanges) {
  EXPECT_EQ(accepted(get("/fibers-restinio/epoch-millis?delayCallDepth=0&delayInMillis=0")).delay,
            milliseconds{0});
  const Call call = accepted(get("/fibers-restinio/epoch-millis?delayCallDepth=100&delayInMillis=600000"));
  EXPECT_EQ(call.depth, 100);
  EXPECT_EQ(call.delay, milliseconds{600'000});
}

TEST(ParseCall, FindMoviesTakesTheDirector) {
  const Call call = accepted(get("/fibers-restinio/movies?directorLastName=Allen&delayCallDepth=1"));
  EXPECT_EQ(call.endpoint, Endpoint::find_movies);
  EXPECT_EQ(call.director, "Allen");
  EXPECT_EQ(call.depth, 1);
}

TEST(ParseCall, DecodesValuesAndNames) {
  EXPECT_EQ(accepted(get("/fibers-restinio/movies?directorLastName=Von+Trier")).director, "Von Trier");
  EXPECT_EQ(accepted(get("/fibers-restinio/movies?directorLastName=Von%20Trier")).director, "Von Trier");
  EXPECT_EQ(accepted(get("/fibers-restinio/movies?directorLastName=Bu%C3%B1uel")).director, "Bu\u00F1uel");
  EXPECT_EQ(accepted(get("/fibers-restinio/movies?directorLastName=A%26B%3DC%2b")).director, "A&B=C+");
  EXPECT_EQ(accepted(get("/fibers-restinio/movies?%64irectorLastName=Allen")).director, "Allen");
}

TEST(ParseCall, IgnoresWhatItDoesNotKnow) {
  const Call call = accepted(get("/fibers-restinio/movies?x=1&directorLastName=Allen&x=2&&flag"));
  EXPECT_EQ(call.director, "Allen");
}

TEST(ParseCall, SaveMoviesTakesTheBody) {
  const Call call = accepted(post("/fibers-restinio/movies?delayInMillis=5",
                                  R"([{"title":"Zelig","releaseYear":1983,"genre":"COMEDY"}])"));
  EXPECT_EQ(call.endpoint, Endpoint::save_movies);
  EXPECT_EQ(call.delay, milliseconds{5});
  ASSERT_EQ(call.movies.size(), 1U);
  EXPECT_EQ(call.movies[0].title, "Zelig");
}

TEST(ParseCall, ContentTypeMayHaveParametersAndAnyCase) {
  for (const auto type : {"application/json", "Application/JSON", "application/json; charset=utf-8",
                          "application/json ;charset=utf-8"}) {
    EXPECT_TRUE(accepted(post("/fibers-restinio/movies", "[]", type)).movies.empty()) << type;
  }
}

TEST(NestedTarget, IsOneCallLessDeepAndKeepsTheDelay) {
  const Call call = accepted(get("/fibers-restinio/movies?directorLastName=Allen&delayCallDepth=3"));
  const std::string target = nested_target(call, kApproach);
  EXPECT_EQ(target, "/fibers-restinio/epoch-millis?delayCallDepth=2&delayInMillis=100");
  EXPECT_EQ(accepted(get(target)).depth, 2) << "the service must understand its own call";
}

TEST(IsGet, LooksAtMethodAndPathOnly) {
  EXPECT_TRUE(is_get(get("/health"), kHealthPath));
  EXPECT_TRUE(is_get(get("/metrics?x=1"), kMetricsPath));
  EXPECT_FALSE(is_get(get("/health/"), kHealthPath));
  EXPECT_FALSE(is_get(post("/health", ""), kHealthPath));
  EXPECT_FALSE(
      is_get({.method = Method::head, .target = "/health", .content_type = {}, .body = {}}, kHealthPath));
}

TEST(Refusals, SameInEveryApproach) {
  for (const auto suffix : {"/epoch-millis?delayCallDepth=x", "/movies", "/nothing", "/epoch-millis/"}) {
    const std::string here = "/fibers-restinio" + std::string(suffix);
    const std::string there = "/reactor-restinio" + std::string(suffix);
    const auto answer = parse_call(get(there), "reactor-restinio");
    EXPECT_EQ(refused(get(here)).body, std::get<Response>(answer).body) << suffix;
  }
}

}  // namespace
}  // namespace heddle::api
