#include "services/models/blocking_style.hpp"

#include "services/movies/stack.hpp"

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace heddle::models {
namespace {

// Records what the request logic asks for, and waits for nothing.
struct FakeRuntime {
  upstream::Reply reply{upstream::Failure::none, 200, "1", {}};
  std::vector<std::chrono::milliseconds> slept;
  std::vector<std::string> called;

  void sleep_for(std::chrono::milliseconds duration) { slept.push_back(duration); }
  upstream::Reply http_get(const std::string& target) {
    called.push_back(target);
    return reply;
  }
};

struct ThrowingRuntime {
  void sleep_for(std::chrono::milliseconds) { throw std::runtime_error("no more memory"); }
  upstream::Reply http_get(const std::string&) { return {}; }
};

class BlockingStyle : public testing::Test {
 protected:
  api::Response serve(std::string_view target) {
    return serve_blocking(runtime_, api::Request{api::Method::get, target, {}, {}}, application_);
  }

  movies::RepositoryStack stack_;
  Application application_{"x", stack_.repository()};
  FakeRuntime runtime_;
};

TEST_F(BlockingStyle, OnlyTheLeafWaits) {
  EXPECT_EQ(serve("/x/epoch-millis?delayCallDepth=0&delayInMillis=70").status, 200);
  EXPECT_EQ(runtime_.slept, std::vector{std::chrono::milliseconds(70)});
  EXPECT_TRUE(runtime_.called.empty());
}

TEST_F(BlockingStyle, ADepthBecomesOneSelfCallWithOneLess) {
  EXPECT_EQ(serve("/x/movies?directorLastName=Allen&delayCallDepth=2&delayInMillis=70").status, 200);
  EXPECT_TRUE(runtime_.slept.empty());
  EXPECT_EQ(runtime_.called, std::vector<std::string>{"/x/epoch-millis?delayCallDepth=1&delayInMillis=70"});
}

TEST_F(BlockingStyle, FaultsNeitherWaitNorCall) {
  EXPECT_EQ(serve("/x/movies").status, 400);
  EXPECT_EQ(serve("/y/movies").status, 404);
  EXPECT_TRUE(runtime_.slept.empty());
  EXPECT_TRUE(runtime_.called.empty());
}

TEST_F(BlockingStyle, UpstreamFailuresBecomeGatewayProblems) {
  using upstream::Failure;
  const std::vector<std::pair<upstream::Reply, int>> cases{
      {{Failure::pool_full, 0, {}, "full"}, 503},  {{Failure::pool_timeout, 0, {}, "late"}, 503},
      {{Failure::connect, 0, {}, "refused"}, 502}, {{Failure::broken, 0, {}, "reset"}, 502},
      {{Failure::timeout, 0, {}, "slow"}, 504},    {{Failure::none, 500, "", {}}, 502},
  };
  for (const auto& [reply, status] : cases) {
    runtime_.reply = reply;
    const api::Response response = serve("/x/epoch-millis?delayCallDepth=1");
    EXPECT_EQ(response.status, status) << reply.detail;
    EXPECT_EQ(response.content_type, api::kProblemJson);
    EXPECT_NE(response.body.find(reply.detail), std::string::npos);
  }
}

TEST_F(BlockingStyle, AnExceptionBecomesA500) {
  ThrowingRuntime runtime;
  const api::Request request{api::Method::get, "/x/epoch-millis", {}, {}};
  const api::Response response = serve_blocking(runtime, request, application_);
  EXPECT_EQ(response.status, 500);
  EXPECT_NE(response.body.find("no more memory"), std::string::npos);
}

}  // namespace
}  // namespace heddle::models
