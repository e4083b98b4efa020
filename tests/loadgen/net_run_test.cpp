// Whole runs over every kind of address.
#include "loadgen/engine/host_check.hpp"
#include "loadgen/engine/run.hpp"
#include "tests/loadgen/fake_server.hpp"
#include "tests/loadgen/tiny_server.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::engine {
namespace {

using heddle::testing::can_bind;
using heddle::testing::literal;
using heddle::testing::TinyServer;
using ::testing::HasSubstr;

class Silent final : public record::RunListener {
 public:
  void started(const record::RunInfo&) override {}
  void connected(const record::ConnectionStats&, std::int64_t) override {
    if (when_connected) when_connected();
  }
  void stage_started(std::size_t, std::int64_t) override {}
  void stage_ended(std::size_t, std::int64_t) override {}
  void second(const record::Second&) override {}
  void done(const record::RunResult&) override {}
  std::function<void()> when_connected;  // every connection was tried once
};

class Folder {
 public:
  Folder() {
    std::string name = std::filesystem::temp_directory_path() / "heddle-net-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

plan::Plan plan_for(const std::string& url, std::int64_t connections) {
  plan::Plan plan;
  plan.targets = {plan::parse_url(url)};
  plan.connections = connections;
  plan.stages = {{"measure", plan::StageKind::measure, plan::kSecond / 2, plan::ConstantRate{80}}};
  plan.requests.resize(1);
  plan.requests[0].name = "get";
  return plan;
}

record::RunResult run(const Setup& setup, std::function<void()> when_connected = {}) {
  Silent silent;
  silent.when_connected = std::move(when_connected);
  return run_load(setup, describe(setup), silent);
}

std::int64_t answered(const record::RunResult& result) {
  return result.window()->total().counts.ok;
}

std::string content(const std::string& file) {
  std::ifstream in{file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

TEST(Ipv6, ARunOverLoopback) {
  if (!can_bind("::1")) {
    const auto result = run(make_setup(plan_for("http://[::1]:1", 1), {""}));
    EXPECT_EQ(result.status, record::Status::failed);
    return;
  }
  const TinyServer server{literal("::1", 0)};
  const auto url = "http://[::1]:" + std::to_string(server.port()) + "/x";
  const auto result = run(checked_setup(plan_for(url, 4), {""}));
  EXPECT_EQ(answered(result), 40);
  EXPECT_EQ(result.connections.opened, 4);
  EXPECT_THAT(server.first_head(), HasSubstr("\r\nHost: [::1]:" + std::to_string(server.port())));
}

TEST(Ipv6, ASourceIsBound) {
  auto plan = plan_for("http://[::1]:1", 4);
  plan.auto_sources = false;
  plan.sources = {"::1"};
  if (!can_bind("::1")) {
    EXPECT_THROW((void)checked_setup(plan, {""}), std::invalid_argument);
    return;
  }
  const TinyServer server{literal("::1", 0)};
  plan.targets.front().port = static_cast<std::uint16_t>(server.port());
  const auto result = run(checked_setup(plan, {""}));
  EXPECT_EQ(answered(result), 40);
  EXPECT_TRUE(result.connections.by_source.contains("::1"));
}

TEST(UnixSocket, ARunWithItsPath) {
  const Folder folder;
  const TinyServer server{unix_address(folder / "x.sock")};
  auto plan = plan_for("unix:" + (folder / "x.sock") + ":/base", 4);
  plan.requests[0].path = "/get?a=b";
  plan.congestion_control = "reno";  // means nothing here
  plan.threads = 2;
  const auto result = run(checked_setup(plan, {""}));
  EXPECT_EQ(answered(result), 40);
  EXPECT_EQ(result.connections.opened, 4);
  EXPECT_EQ(server.accepted(), 4);
  EXPECT_THAT(server.first_head(), HasSubstr("GET /base/get?a=b HTTP/1.1\r\nHost: localhost"));
}

TEST(UnixSocket, NoFileAndNobodyListeningAreRefused) {
  const Folder folder;
  // A socket that stayed behind when its server went.
  { const TinyServer gone{unix_address(folder / "gone.sock")}; }
  for (const char* name : {"none.sock", "gone.sock"}) {
    const auto result = run(checked_setup(plan_for("unix:" + (folder / name), 3), {""}));
    EXPECT_EQ(result.status, record::Status::failed);
    EXPECT_THAT(result.reason, HasSubstr("refused 3 times")) << name;
  }
}

TEST(UnixSocket, AFullBacklogIsTriedAgain) {
  const Folder folder;
  TinyServer server{unix_address(folder / "x.sock"), {.backlog = 0, .waits = true}};
  auto plan = plan_for("unix:" + (folder / "x.sock"), 6);
  plan.stages.front().duration = 2 * plan::kSecond;
  const auto result = run(checked_setup(plan, {""}), [&server] { server.go(); });
  EXPECT_EQ(result.status, record::Status::complete) << result.reason;
  EXPECT_EQ(result.connections.opened, 6);
  EXPECT_EQ(server.accepted(), 6);
  ASSERT_TRUE(result.connections.errors.contains("other:EAGAIN"));
  EXPECT_GE(result.connections.errors.at("other:EAGAIN"), 5);  // one waits in the backlog
}

TEST(Answers, AreUsedInTurn) {
  const TinyServer first{literal("127.0.0.1", 0)};
  const TinyServer second{literal("127.0.0.2", first.port())};
  const auto setup =
      make_setup(plan_for("http://two:" + std::to_string(first.port()), 6), {""}, [](const plan::Url& url) {
        return std::vector{literal("127.0.0.1", url.port), literal("127.0.0.2", url.port)};
      });
  const auto result = run(setup);
  EXPECT_EQ(answered(result), 40);
  // Each was tried once before.
  EXPECT_EQ(first.accepted(), 1 + 3);
  EXPECT_EQ(second.accepted(), 1 + 3);
  EXPECT_EQ(first.answered() + second.answered(), 40);
  EXPECT_GT(second.answered(), 0);
}

TEST(Answers, OneThatRefusesCostsNoConnection) {
  const TinyServer server{literal("127.0.0.1", 0)};
  const auto setup =
      make_setup(plan_for("http://two:" + std::to_string(server.port()), 6), {""}, [](const plan::Url& url) {
        return std::vector{literal("127.0.0.2", url.port), literal("127.0.0.1", url.port)};
      });
  const auto result = run(setup);
  EXPECT_EQ(result.connections.refused(), 0);
  EXPECT_EQ(result.connections.opened, 6);
}

// The real binary below a limit that one table of its connections does not fit into.
TEST(Descriptors, EachThreadHoldsItsOwnWhenOneTableIsTooSmall) {
  const Folder folder;
  const TinyServer server{literal("127.0.0.1", 0)};
  const auto command = "ulimit -n 100; exec " HEDDLE_LOAD
                       " -c 120 -t 2 -r 200 -d 1s --json http://127.0.0.1:" +
                       std::to_string(server.port()) + " >" + (folder / "out") + " 2>" + (folder / "err");
  const int status = std::system(command.c_str());
  const auto errors = content(folder / "err");
  ASSERT_EQ(WEXITSTATUS(status), 0) << errors;
  EXPECT_THAT(errors, HasSubstr("each engine thread has its own descriptor table: 120 connections do not fit "
                                "into one of 100"));
  const auto result = boost::json::parse(content(folder / "out"));
  const auto& connections = result.at("connections").as_object();
  EXPECT_EQ(connections.at("peak").as_int64(), 120);
  EXPECT_EQ(connections.at("errors").as_object().size(), 0U);
  EXPECT_EQ(result.at("window").at("ok").as_int64(), 200);
}

TEST(Descriptors, TooFewAreExitCode3WithWhatHelps) {
  const Folder folder;
  const auto command =
      "ulimit -n 100; exec " HEDDLE_LOAD " -c 120 -t 1 -r 200 -d 1s http://127.0.0.1:1 2>" + (folder / "err");
  const int status = std::system(command.c_str());
  const auto errors = content(folder / "err");
  EXPECT_EQ(WEXITSTATUS(status), 3) << errors;
  EXPECT_THAT(errors, HasSubstr("the limit of a table is 100 (ulimit -Hn); what helps: 2 threads"));
}

}  // namespace
}  // namespace heddle::engine

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  heddle::engine::block_stop_signals();
  return RUN_ALL_TESTS();
}
