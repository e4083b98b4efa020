// The real binary: files, exit codes, messages, signals.
#include "loadgen/options.hpp"
#include "tests/loadgen/command_line.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>

namespace heddle {
namespace {

using heddle::testing::content;
using heddle::testing::FakeServer;
using heddle::testing::hello;
using heddle::testing::kHello;
using ::testing::HasSubstr;
using Then = FakeServer::Then;
using namespace std::chrono_literals;

class CommandLine : public heddle::testing::CommandLine {
 protected:
  // A plan that is in order but for `member`, which nothing would answer.
  [[nodiscard]] std::string plan_with(const std::string& member) const {
    const auto file = folder_ / ("plan-" + std::to_string(std::hash<std::string>{}(member)) + ".json");
    std::ofstream{file} << R"({"schema": 1, "targets": ["http://127.0.0.1:1"], "connections": 1,
      "stages": [{"durationMillis": 5, "arrivals": {"kind": "constant-rate", "perSecond": 1}}],
      "requests": [{"name": "a", "path": "/"}], )"
                        << member << "}";
    return file;
  }
};

TEST_F(CommandLine, WritesWhatItMeasured) {
  FakeServer server{hello};
  const auto outcome =
      run({"-c", "5", "-r", "100", "-d", "1s", "-w", "200ms", "--out", result_folder(), server.url()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("100 planned = 100 sent"));
  EXPECT_THAT(outcome.out, HasSubstr("generator: "));
  EXPECT_THAT(outcome.out, HasSubstr("seed         1\n"));
  const auto json = load_json();
  EXPECT_EQ(json.at("status").as_string(), "complete");
  EXPECT_EQ(json.at("window").as_object().at("ok").as_int64(), 100);
  EXPECT_EQ(json.at("connections").as_object().at("opened").as_int64(), 5);
  EXPECT_THAT(content(folder_ / "result/load-seconds.csv"), HasSubstr("measure,request,100,100,100,0,0,0,"));
  EXPECT_THAT(content(folder_ / "result/load.hlog"), HasSubstr("\nTag=latency:request,"));
  EXPECT_THAT(content(folder_ / "result/load.hlog"), HasSubstr("\nTag=warmup-latency:request,"));
}

TEST_F(CommandLine, AStallIsInLatencyButNotInServiceTime) {
  FakeServer server{[](const FakeServer::Peer& peer, const heddle::testing::Seen& seen) {
    if (seen.number == 600 && seen.connection == 0) peer.pause(500ms);
    peer.write(kHello);
    return Then::keep;
  }};
  const auto outcome = run({"-c", "1", "-r", "1000", "-d", "2s", "--out", result_folder(), server.url()});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = load_json();
  const auto& window = json.at("window").as_object();
  EXPECT_EQ(window.at("planned").as_int64(), 2000);
  const auto& latency = window.at("latencyMillis").as_object();
  const auto& service = window.at("serviceMillis").as_object();
  EXPECT_GT(latency.at("p90").to_number<double>(), 100.0);
  EXPECT_LT(service.at("p90").to_number<double>(), 100.0);
  EXPECT_GE(service.at("max").to_number<double>(), 500.0);
}

TEST_F(CommandLine, RunsAPlanAndTellsEvents) {
  FakeServer server{hello};
  std::ofstream{folder_ / "body.json"} << "{ \"a\" : 1 }\n";
  std::ofstream{folder_ / "plan.json"} << R"({"schema": 1, "name": "x", "seed": 3, "targets": [")"
                                       << server.url("") << R"("], "connections": 8,
      "threads": 2, "sourceAddresses": "auto", "mix": "per-user", "think": {"kind": "constant", "millis": [50]},
      "stages": [
        {"name": "warm", "kind": "warmup", "durationMillis": 200, "arrivals": {"kind": "users", "count": 2}},
        {"name": "up", "kind": "measure", "durationMillis": 400, "arrivals": {"kind": "users-ramp", "from": 0, "to": 8}},
        {"name": "down", "kind": "measure", "durationMillis": 200, "arrivals": {"kind": "users-ramp", "from": 8, "to": 0}}],
      "requests": [{"name": "get", "weight": 3, "method": "GET", "path": "/m"},
                   {"name": "post", "weight": 1, "method": "POST", "path": "/m", "bodyFile": "body.json"}]})";
  const auto outcome = run({"--plan", folder_ / "plan.json", "--out", result_folder(), "--events", "-"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  std::istringstream lines{outcome.out};
  std::vector<std::string> events;
  for (std::string line; std::getline(lines, line);) {
    const auto event = boost::json::parse(line).as_object();
    std::string name{event.at("event").as_string()};
    if (name == "progress") continue;
    if (const auto* stage = event.if_contains("name")) name += " " + std::string{stage->as_string()};
    events.push_back(name);
  }
  EXPECT_THAT(events, ::testing::ElementsAre("started", "connected", "stage-started warm", "stage-ended warm",
                                             "stage-started up", "stage-ended up", "stage-started down",
                                             "stage-ended down", "done"));
  const auto json = load_json();
  const auto& window = json.at("window").as_object();
  EXPECT_EQ(json.at("stages").as_array().size(), 3U);
  EXPECT_DOUBLE_EQ(window.at("durationMillis").to_number<double>(), 600.0);
  EXPECT_GT(window.at("ok").as_int64(), 8);
  bool posted = false;
  for (const auto& seen : server.seen()) {
    if (seen.head.starts_with("POST")) {
      posted = true;
      EXPECT_EQ(seen.body, "{\"a\":1}");
    }
  }
  EXPECT_TRUE(posted);
}

TEST_F(CommandLine, AnInterruptLeavesValidFilesMarkedAsSuch) {
  FakeServer server{hello};
  const auto begun = std::chrono::steady_clock::now();
  const auto pid = start({"-c", "2", "-r", "50", "-d", "60s", "--out", result_folder(), server.url()});
  while (server.seen().size() < 20 && std::chrono::steady_clock::now() - begun < 20s)
    std::this_thread::sleep_for(5ms);
  kill(pid, SIGINT);
  const auto outcome = finish(pid);
  EXPECT_EQ(outcome.exit_code, 130);
  const auto json = load_json();
  EXPECT_EQ(json.at("status").as_string(), "interrupted");
  EXPECT_EQ(json.at("reason").as_string(), "SIGINT");
  const auto& window = json.at("window").as_object();
  EXPECT_GE(window.at("ok").as_int64(), 18);
  EXPECT_LT(window.at("durationMillis").to_number<double>(), 60'000.0);
  EXPECT_EQ(window.at("planned").as_int64(), window.at("sent").as_int64() + window.at("unsent").as_int64());
}

TEST_F(CommandLine, NothingListensIsExitCodeOne) {
  const auto url = "http://127.0.0.1:" + std::to_string(heddle::testing::closed_port());
  const auto outcome = run({"-d", "5s", "--out", result_folder(), url});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr(" could be opened, refused 10 times"));
  EXPECT_EQ(load_json().at("status").as_string(), "failed");
}

TEST_F(CommandLine, NoSuccessIsExitCodeOneAndTheEventsTellWhy) {
  FakeServer server{[](const FakeServer::Peer& peer, const heddle::testing::Seen&) {
    peer.write("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
    return Then::keep;
  }};
  const auto outcome = run({"-c", "1", "-r", "20", "-d", "500ms", "--out", result_folder(), "--events",
                            folder_ / "events", server.url()});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err, "heddle-load: no request succeeded: 10 sent, 10 HTTP 5xx\n");
  EXPECT_EQ(load_json().at("status").as_string(), "failed");
  EXPECT_THAT(content(folder_ / "events"),
              HasSubstr(R"({"event":"done","status":"failed","reason":"no request succeeded: 10 sent)"));
}

TEST_F(CommandLine, UsageErrorsAreOneLineAndExitCodeTwo) {
  std::ofstream{folder_ / "bad.json"} << R"({"schema": 1, "targets": ["http://h"], "connections": "x"})";
  std::ofstream{folder_ / "broken.json"} << "{";
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  std::ofstream{folder_ / "huge"} << "x";
  std::filesystem::resize_file(folder_ / "huge", 64UL * 1024 * 1024 + 1);
  const std::vector<std::pair<std::vector<std::string>, const char*>> cases{
      {{}, "no URL"},
      {{"--nonsense"}, "--nonsense"},
      {{"-c", "0", "http://127.0.0.1:1"}, "--connections: found '0'"},
      {{"-c", "many", "http://127.0.0.1:1"}, "found 'many'"},
      {{"-r", "-1", "http://127.0.0.1:1"}, "--rate"},
      {{"-r", "nan", "http://127.0.0.1:1"}, "--rate"},
      {{"-r", "1e9", "http://127.0.0.1:1"}, "--rate: found '1e9', accepted: a number from 1e-06 to 10000000"},
      {{"-r", "0.01", "http://127.0.0.1:1"}, "--rate: found a load without one request"},
      {{"--dur", "5", "http://127.0.0.1:1"}, "--dur: not known, is it --duration?"},
      {{"--slo", "p99=150", "http://127.0.0.1:1"}, "--slo: found 'p99=150', accepted: "},
      {{"--slo", "rate=99%", "http://127.0.0.1:1"}, "--slo: found 'rate=99%', accepted: a share of the rate"},
      {{"--plan", plan_with(R"("slo": ["p99=1"])")}, "plan: slo[0]: found 'p99=1', accepted: "},
      {{"--plan", plan_with(R"("slo": ["b:p99=1ms"])")},
       "plan: slo[0]: found 'b:p99=1ms', accepted: the requests a"},
      {{"--plan", plan_with(R"("slo": "p99=1ms")")}, "slo: found"},
      {{"find-max", "http://127.0.0.1:1"}, "no --slo"},
      {{"find-max", "--slo", "p99=1ms", "-r", "5", "http://127.0.0.1:1"}, "--rate: not with find-max"},
      {{"--from", "5", "http://127.0.0.1:1"}, "--from: not with a run"},
      {{"--completion", "fish"}, "--completion: found 'fish', accepted: bash"},
      {{"-d", "soon", "http://127.0.0.1:1"}, "--duration: found 'soon'"},
      {{"-d", "0", "http://127.0.0.1:1"}, "--duration"},
      {{"--cpus", "1-", "http://127.0.0.1:1"}, "--cpus"},
      {{"--header", "x", "http://127.0.0.1:1"}, "--header"},
      {{"--cpus", "4095", "http://127.0.0.1:1"}, "cpus: found 4095, available: "},
      {{"--plan", plan_with(R"("cpus": [4095])")}, "cpus: found 4095, available: "},
      {{"--plan", plan_with(R"("congestionControl": "none-such")")}, "congestionControl: found 'none-such'"},
      {{"--plan", plan_with(R"("sourceAddresses": ["192.0.2.1"])")}, "sourceAddresses: found '192.0.2.1'"},
      {{"--plan", plan_with(R"("sourceAddresses": ["here"])")}, "sourceAddresses: found 'here'"},
      {{"--out", "", "http://127.0.0.1:1"}, "--out"},
      {{"--events", "", "http://127.0.0.1:1"}, "--events"},
      {{"-H", "Content-Length: 5", "http://127.0.0.1:1"}, "found Content-Length"},
      {{"-H", "transfer-encoding: chunked", "http://127.0.0.1:1"}, "found transfer-encoding"},
      {{"--poisson", "http://127.0.0.1:1"}, "--rate"},
      {{"--body", "/nonexistent", "http://127.0.0.1:1"}, "/nonexistent"},
      {{"--body", "/dev/zero", "http://127.0.0.1:1"}, "the body file /dev/zero: no regular file"},
      {{"--body", folder_, "http://127.0.0.1:1"}, "Is a directory"},
      {{"--body", folder_ / "pipe", "http://127.0.0.1:1"}, "no regular file"},
      {{"--body", folder_ / "huge", "http://127.0.0.1:1"}, "more than 67108864 bytes"},
      {{"--plan", "/dev/zero"}, "the plan /dev/zero: no regular file"},
      {{"127.0.0.1:1"}, "http://"},
      {{"http://127.0.0.1:1", "http://127.0.0.1:2"}, "one URL"},
      {{"--plan", "/nonexistent.json"}, "/nonexistent.json"},
      {{"--plan", folder_ / "bad.json"}, "connections: found \"x\""},
      {{"--plan", folder_ / "broken.json"}, "JSON"},
      {{"--plan", folder_ / "bad.json", "-c", "5"}, "not together"}};
  for (const auto& [arguments, expected] : cases) {
    const auto outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << expected;
    EXPECT_THAT(outcome.err, HasSubstr(expected));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
}

// Through a shell, for descriptors that are closed or full.
int shell(const std::string& arguments) {
  const int status = std::system((std::string{HEDDLE_LOAD} + " " + arguments).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST_F(CommandLine, WordsThatCannotBeWrittenEndNothing) {
  EXPECT_EQ(shell("--no-such-option 2>/dev/full"), 2);
  EXPECT_EQ(shell("--no-such-option 2>&-"), 2);
}

TEST_F(CommandLine, ClosedDescriptorsAreNotTakenByItsFiles) {
  FakeServer server{[](const FakeServer::Peer& peer, const heddle::testing::Seen&) {
    peer.write(heddle::testing::kHello);
    return FakeServer::Then::keep;
  }};
  const auto folder = std::filesystem::temp_directory_path() / ("heddle-closed-" + std::to_string(getpid()));
  EXPECT_EQ(shell("-c 1 -r 20 -d 300ms --out " + folder.string() + " " + server.url() + " <&- >&- 2>&-"), 1);
  std::ifstream log{folder / "load.hlog"};
  for (std::string line; std::getline(log, line);) {
    EXPECT_TRUE(line.starts_with("#") || line.starts_with("\"") || line.starts_with("Tag=")) << line;
  }
  std::filesystem::remove_all(folder);
}

TEST_F(CommandLine, ArgumentsAreUtf8) {
  EXPECT_EQ(shell("\"$(printf 'http://127.0.0.1/\\377')\" 2>/dev/null"), 2);
}

TEST_F(CommandLine, AnUnusableFolderIsFoundBeforeTheRun) {
  std::ofstream{folder_ / "file"} << "x";
  FakeServer server{hello};
  const auto outcome = run({"-d", "60s", "--out", folder_ / "file/inside", server.url()});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(server.accepted(), 0);
}

TEST_F(CommandLine, OutputThatCannotBeWrittenIsExitCodeOne) {
  FakeServer server{hello};
  const auto events = run({"-d", "60s", "--events", "/dev/full", server.url()});
  EXPECT_EQ(events.exit_code, 1);
  EXPECT_EQ(events.err, "heddle-load: cannot write /dev/full: No space left on device\n");
  EXPECT_EQ(server.accepted(), 0);
  standard_output_ = "/dev/full";
  for (const char* option : {"--strict", "--json"}) {
    const auto text = run({"-d", "200ms", option, server.url()});
    EXPECT_EQ(text.exit_code, 1);
    EXPECT_EQ(text.err, "heddle-load: cannot write to standard output: No space left on device\n");
  }
}

TEST_F(CommandLine, JsonGoesToStandardOutput) {
  FakeServer server{hello};
  const auto outcome = run({"-c", "2", "-d", "200ms", "--json", server.url()});
  const auto json = boost::json::parse(outcome.out).as_object();
  EXPECT_TRUE(json.at("closedLoop").as_bool());
}

TEST_F(CommandLine, HelpAndVersion) {
  const auto help = run({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_EQ(help.out, load::help_text(load::Command::run));
  EXPECT_EQ(run({"find-max", "-h"}).out, load::help_text(load::Command::find_max));
  EXPECT_EQ(run({"--completion", "bash"}).out, load::completion_script("bash"));
  EXPECT_THAT(run({"--version"}).out, ::testing::StartsWith("heddle-load "));
}

}  // namespace
}  // namespace heddle
