#include "loadgen/plan/plan_reader.hpp"

#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::plan {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kFull = R"({
  "schema": 1, "name": "demo", "seed": 7, "targets": ["http://127.0.0.1:8080"], "connections": 100, "threads": 2,
  "cpus": [1], "sourceAddresses": ["127.0.0.9"], "keepAlive": true, "requestsPerConnection": null,
  "requestTimeoutMillis": 5000, "connectTimeoutMillis": 0, "connect": {"mode": "ramp", "perSecond": 50},
  "congestionControl": "cubic", "mix": "per-user", "think": {"kind": "uniform", "millis": [1000, 3000]},
  "stages": [
    {"name": "warm", "kind": "warmup", "durationMillis": 1000, "arrivals": {"kind": "users", "count": 10}},
    {"name": "up", "kind": "measure", "durationMillis": 8000, "arrivals": {"kind": "users-ramp", "from": 0, "to": 100}}],
  "whenBusy": "queue",
  "requests": [
    {"name": "get", "weight": 3, "method": "GET", "path": "/a", "headers": {"X": "y"}, "expect": {"status": 200}},
    {"name": "post", "weight": 1, "method": "POST", "path": "/a", "bodyFile": "b.json",
     "expect": {"status": 200, "bodyBytes": 12}}]})";

std::string error_of(std::string_view text) {
  try {
    (void)parse_plan(text, "/plans");
  } catch (const PlanError& error) {
    return error.what();
  }
  return "no error";
}

std::string changed(std::string_view from, std::string_view to) {
  std::string text{kFull};
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(PlanReader, ReadsEveryKey) {
  const auto read = parse_plan(kFull, "/plans");
  const auto& plan = read.plan;
  EXPECT_TRUE(read.warnings.empty());
  EXPECT_EQ(plan.name, "demo");
  EXPECT_EQ(plan.seed, 7U);
  EXPECT_EQ(plan.targets.front().port, 8080);
  EXPECT_EQ(plan.connections, 100);
  EXPECT_EQ(plan.threads, 2);
  EXPECT_THAT(plan.cpus, ElementsAre(1));
  EXPECT_FALSE(plan.auto_sources);
  EXPECT_THAT(plan.sources, ElementsAre("127.0.0.9"));
  EXPECT_EQ(plan.request_timeout, 5 * kSecond);
  EXPECT_EQ(plan.connect_timeout, 0);
  EXPECT_EQ(plan.connect_ramp, 50.0);
  EXPECT_EQ(plan.congestion_control, "cubic");
  EXPECT_EQ(plan.mix, Mix::per_user);
  EXPECT_EQ(plan.think.kind, ThinkKind::uniform);
  EXPECT_EQ(plan.think.high, 3 * kSecond);
  ASSERT_EQ(plan.stages.size(), 2U);
  EXPECT_EQ(plan.stages[0].kind, StageKind::warmup);
  EXPECT_EQ(std::get<UsersRamp>(plan.stages[1].arrivals).to, 100);
  ASSERT_EQ(plan.requests.size(), 2U);
  EXPECT_EQ(plan.requests[1].body_file, "/plans/b.json");
  EXPECT_EQ(plan.requests[1].expect_body_bytes, 12);
}

TEST(PlanReader, AbsentAndNullMeanTheDefault) {
  const auto plan =
      parse_plan(R"({"schema": 1, "targets": ["http://h"], "connections": 1, "think": null, "cpus": null,
    "stages": [{"durationMillis": 5, "arrivals": {"kind": "constant-rate", "perSecond": 0.5}}],
    "requests": [{"name": "a", "path": "/"}]})",
                 "")
          .plan;
  EXPECT_EQ(plan.request_timeout, 60 * kSecond);
  EXPECT_EQ(plan.connect_timeout, 20 * kSecond);
  EXPECT_TRUE(plan.auto_sources);
  EXPECT_FALSE(plan.connect_ramp);
  EXPECT_EQ(plan.requests[0].expect_status, 200);
}

TEST(PlanReader, AnUnknownKeyIsNamedAndIgnored) {
  const auto read = parse_plan(changed("\"cpus\"", "\"cpuz\""), "");
  EXPECT_THAT(read.warnings, ElementsAre(HasSubstr("cpuz")));
}

struct Broken {
  const char* from;
  const char* to;
  const char* key;
  const char* accepted;
};

class PlanErrors : public ::testing::TestWithParam<Broken> {};

TEST_P(PlanErrors, NameTheKeyAndWhatIsAccepted) {
  const auto error = error_of(changed(GetParam().from, GetParam().to));
  EXPECT_THAT(error, AllOf(HasSubstr(GetParam().key), HasSubstr(GetParam().accepted)));
  EXPECT_EQ(error.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Each, PlanErrors,
    ::testing::Values(
        Broken{"\"schema\": 1", "\"schema\": 2", "schema", "from 1 to 1"},
        Broken{"\"connections\": 100", "\"connections\": -5", "connections: found -5", "from 1 to"},
        Broken{"\"connections\": 100", "\"connections\": \"many\"", "connections: found \"many\"",
               "an integer"},
        Broken{"\"connections\": 100", "\"connections\": 1e300", "connections", "an integer"},
        Broken{"\"connections\": 100", "\"connections\": 99", "stages", "at most 99"},
        Broken{"\"durationMillis\": 8000", "\"durationMillis\": 0", "stages[1].durationMillis", "from 1"},
        Broken{"\"users-ramp\"", "\"userz\"", "stages[1].arrivals.kind", "users-ramp"},
        Broken{"\"kind\": \"users\", \"count\": 10", "\"kind\": \"poisson\", \"perSecond\": 0", "perSecond",
               "from"},
        Broken{"\"kind\": \"users\", \"count\": 10", "\"kind\": \"poisson\", \"perSecond\": 5",
               "users and rates", "one"},
        Broken{"\"warmup\"", "\"warm\"", "stages[0].kind", "warmup, measure"},
        Broken{"\"measure\"", "\"warmup\"", "stages", "at least one"},
        Broken{"[1000, 3000]", "[3000, 1000]", "think.millis", "LOW <= HIGH"},
        Broken{"\"per-user\"", "\"each\"", "mix", "per-user, per-request"},
        Broken{"\"queue\"", "\"drop\"", "whenBusy", "queue, shed"},
        Broken{"http://127.0.0.1:8080", "https://a", "targets", "http://HOST"},
        Broken{"\"weight\": 3", "\"weight\": 0", "requests[0].weight", "from 1"},
        Broken{"\"name\": \"post\"", "\"name\": \"get\"", "requests[1].name", "different names"},
        Broken{"\"name\": \"post\"", "\"name\": \"a,b\"", "requests[1].name", "comma"},
        Broken{"\"name\": \"warm\"", "\"name\": \"a,b\"", "stages[0].name: found \"a,b\"", "comma"},
        Broken{"\"name\": \"up\"", "\"name\": \"two\\nlines\"", "stages[1].name", "printable ASCII"},
        Broken{"\"path\": \"/a\", \"headers\"", "\"path\": \"a b\", \"headers\"", "requests[0].path",
               "begins with /"},
        Broken{"{\"X\": \"y\"}", "{\"X\": \"y\\r\\nZ: 1\"}", "requests[0].headers", "control characters"},
        Broken{"{\"X\": \"y\"}", "{\"content-length\": \"5\"}", "requests[0].headers: found content-length",
               "do not frame"},
        Broken{"{\"X\": \"y\"}", "{\"Transfer-Encoding\": \"chunked\"}", "requests[0].headers",
               "do not frame"},
        Broken{"{\"X\": \"y\"}", "{\"Content-Length\\t\": \"5\"}", "requests[0].headers", "letters"},
        Broken{"{\"X\": \"y\"}", "{\"Content-Length:5\": \"\"}", "requests[0].headers", "letters"},
        Broken{"\"method\": \"GET\"", "\"method\": \"GET /x\"", "requests[0].method", "letters"},
        Broken{"\"method\": \"GET\"", "\"method\": \"\"", "requests[0].method", "letters"},
        Broken{"\"status\": 200, \"bodyBytes\"", "\"status\": 20, \"bodyBytes\"", "requests[1].expect.status",
               "100"},
        Broken{"\"targets\"", "\"target\"", "targets: found nothing", "list"}));

TEST(PlanErrorsMore, NoJsonNamesThePlace) {
  EXPECT_THAT(error_of("{"), HasSubstr("plan:1:2: no valid JSON: incomplete JSON"));
  EXPECT_THAT(error_of("{\"a\": 1,\n \"b\": oops}"), HasSubstr("plan:2:7: no valid JSON: "));
  EXPECT_THAT(error_of("{}\n\n  {}"), HasSubstr("plan:3:3: no valid JSON: "));
  EXPECT_THAT(error_of("\n"), HasSubstr("plan:2:1: no valid JSON: "));
  const auto file = std::filesystem::temp_directory_path() / fmt::format("heddle-plan-{}.json", getpid());
  std::ofstream{file} << "{\n}}";
  try {
    (void)read_plan(file);
    ADD_FAILURE() << "no error";
  } catch (const PlanError& error) {
    EXPECT_THAT(error.what(), HasSubstr(file.string() + ":2:2: no valid JSON"));
  }
  std::filesystem::remove(file);
}
TEST(PlanErrorsMore, WhiteSpaceBehindThePlanIsNoError) {
  EXPECT_NO_THROW((void)parse_plan(std::string{kFull} + " \n\n", ""));
}
TEST(PlanErrorsMore, AThousandRequestNamesAndNoMore) {
  const auto plan_with = [](std::size_t requests) {
    auto plan = parse_plan(kFull, "").plan;
    for (std::size_t i = plan.requests.size(); i < requests; ++i) {
      plan.requests.push_back(plan.requests.front());
      plan.requests.back().name = fmt::format("more-{}", i);
    }
    return plan;
  };
  EXPECT_NO_THROW(check_plan(plan_with(1000)));
  try {
    check_plan(plan_with(1001));
    ADD_FAILURE() << "no error";
  } catch (const PlanError& error) {
    EXPECT_STREQ(error.what(), "plan: requests: found 1001 of them, accepted: at most 1000");
  }
}
TEST(PlanErrorsMore, NoObject) {
  EXPECT_THAT(error_of("[1]"), HasSubstr("an object"));
}
TEST(PlanErrorsMore, NoFile) {
  EXPECT_THROW((void)read_plan("/nonexistent/plan.json"), PlanError);
}

TEST(ParseUrl, SplitsWhatItAccepts) {
  EXPECT_EQ(parse_url("http://example.org").port, 80);
  EXPECT_EQ(parse_url("http://example.org").path, "/");
  EXPECT_EQ(parse_url("http://h:81?a=b#c").path, "/?a=b");
  const auto v6 = parse_url("http://[::1]:8080/x");
  EXPECT_EQ(v6.host, "::1");
  EXPECT_EQ(v6.authority(), "[::1]:8080");
  EXPECT_EQ(parse_url("http://h:80/").authority(), "h");
}

TEST(ParseUrl, RefusesTheRest) {
  for (const char* bad :
       {"", "h:80", "https://h", "http://", "http://:80", "http://h:0", "http://h:65536", "http://h:x",
        "http://h:", "http://[::1", "http://[::1]x", "http://a b", "http://u@h"}) {
    EXPECT_THROW((void)parse_url(bad), std::invalid_argument) << bad;
  }
}

}  // namespace
}  // namespace heddle::plan
