// What the real binary leaves behind and shows: objectives, find-max, the live line, full disks.
#include "tests/loadgen/command_line.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <pty.h>
#include <sys/stat.h>
#include <thread>

#include <gmock/gmock.h>

namespace heddle {
namespace {

using heddle::testing::content;
using heddle::testing::FakeServer;
using heddle::testing::hello;
using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using Then = FakeServer::Then;
using namespace std::chrono_literals;

class Output : public heddle::testing::CommandLine {};

Then busy(const FakeServer::Peer& peer, const heddle::testing::Seen&) {
  peer.write("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
  return Then::keep;
}

TEST_F(Output, ObjectivesDecideTheExitCode) {
  FakeServer server{[](const FakeServer::Peer& peer, const heddle::testing::Seen& seen) {
    return seen.number % 10 == 9 ? busy(peer, seen) : hello(peer, seen);
  }};
  const auto minutes = run({"-c", "1", "-r", "100", "-d", "1s", "--slo", "errors=10%,rate=90%,max=1m",
                            "--out", result_folder(), server.url()});
  EXPECT_EQ(minutes.exit_code, 2);
  const auto all = run({"-c", "1", "-r", "100", "-d", "1s", "--slo", "errors=10%,rate=90%,max=60s", "--out",
                        result_folder(), server.url()});
  EXPECT_EQ(all.exit_code, 0) << all.out << all.err;
  const auto missed = run({"-c", "1", "-r", "100", "-d", "1s", "--slo", "errors=9%,p99=1s", "--out",
                           result_folder(), server.url()});
  EXPECT_EQ(missed.exit_code, 1);
  EXPECT_THAT(missed.out, HasSubstr("missed: 10 % is over 9 %"));
  EXPECT_THAT(missed.out, HasSubstr("unknown: 90 requests were measured, this percentile needs 10000"));
  const auto slo = load_json().at("slo").as_array();
  ASSERT_EQ(slo.size(), 2U);
  EXPECT_EQ(slo[0].at("state").as_string(), "missed");
  EXPECT_EQ(slo[0].at("objective").as_string(), "errors");
  EXPECT_DOUBLE_EQ(slo[0].at("value").to_number<double>(), 10);
  EXPECT_EQ(slo[1].at("state").as_string(), "unknown");
}

TEST_F(Output, APlanCarriesObjectives) {
  FakeServer server{hello};
  std::ofstream{folder_ / "plan.json"} << R"({"schema": 1, "targets": [")" << server.url("")
                                       << R"("], "connections": 1,
      "stages": [{"durationMillis": 200, "arrivals": {"kind": "constant-rate", "perSecond": 50}}],
      "requests": [{"name": "a", "path": "/"}], "slo": ["a:max=60s", "ok-rate=1000/s"]})";
  const auto outcome = run({"--plan", folder_ / "plan.json", "--slo", "errors=0%"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, ::testing::ContainsRegex("missed: 50[.0-9]* /s is under 1000 /s"));
  EXPECT_THAT(outcome.out, HasSubstr("a:max"));
  EXPECT_EQ(run({"--plan", folder_ / "plan.json", "--slo", "a:max=1s"}).exit_code, 2);
}

TEST_F(Output, EveryStageHasItsOwnBlock) {
  FakeServer server{hello};
  const auto outcome = run(
      {"-c", "2", "--stage", "300ms:100", "--stage", "400ms:0..100", "--out", result_folder(), server.url()});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto stages = load_json().at("stages").as_array();
  ASSERT_EQ(stages.size(), 2U);
  EXPECT_EQ(stages[0].at("planned").as_int64(), 30);
  EXPECT_EQ(stages[1].at("planned").as_int64(), 20);
  EXPECT_EQ(load_json().at("window").at("planned").as_int64(), 50);
}

// Standard error is a terminal; what was written to it, and the exit code.
std::pair<std::string, int> on_terminal(std::vector<char*> argv, const std::string& out) {
  int master = -1;
  const pid_t pid = forkpty(&master, nullptr, nullptr, nullptr);
  if (pid == 0) {
    dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  std::string shown;
  std::array<char, 4096> buffer{};
  // The terminal's end reads as EIO once nobody has it open any more.
  for (ssize_t size = 0; (size = read(master, buffer.data(), buffer.size())) > 0;) {
    shown.append(buffer.data(), static_cast<std::size_t>(size));
  }
  close(master);
  int status = 0;
  waitpid(pid, &status, 0);
  return {shown, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

TEST_F(Output, ATerminalShowsALiveLineThatIsErasedAtTheEnd) {
  FakeServer server{hello};
  std::vector<std::string> open_loop{"-c", "2", "-r", "200", "-d", "2200ms", server.url()};
  const auto [line, code] = on_terminal(words(open_loop), folder_ / "out");
  EXPECT_EQ(code, 0);
  EXPECT_THAT(line, HasSubstr("measure"));
  EXPECT_THAT(line, HasSubstr(" ok/s of "));
  EXPECT_THAT(line, HasSubstr("p50 "));
  EXPECT_THAT(line, HasSubstr("in flight "));
  EXPECT_THAT(line, EndsWith("\r\033[K"));
  EXPECT_THAT(content(folder_ / "out"), HasSubstr("440 planned"));
  std::vector<std::string> closed_loop{"-c", "2", "-d", "1200ms", server.url()};
  EXPECT_THAT(on_terminal(words(closed_loop), folder_ / "out").first, Not(HasSubstr(" of ")));
}

TEST_F(Output, WithoutATerminalStandardErrorIsEmpty) {
  FakeServer server{hello};
  EXPECT_EQ(run({"-c", "2", "-r", "200", "-d", "2200ms", server.url()}).err, "");
}

TEST_F(Output, UnusableFilesAreFoundBeforeTheRun) {
  FakeServer server{hello};
  std::ofstream{folder_ / "file"} << "x";
  const auto bad = (folder_ / "file/inside").string();
  std::filesystem::create_directories(folder_ / "taken/load.json/full");
  for (const auto& arguments : std::vector<std::vector<std::string>>{{"--out", bad},
                                                                     {"--out", folder_ / "taken"},
                                                                     {"--events", bad},
                                                                     {"--record-requests", bad},
                                                                     {"--events", folder_}}) {
    auto words = arguments;
    words.insert(words.end(), {"-d", "60s", server.url()});
    const auto outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 2) << arguments[1];
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
  const auto search = run({"find-max", "--slo", "errors=1%", "--out", bad, server.url()});
  EXPECT_EQ(search.exit_code, 2);
  EXPECT_EQ(server.accepted(), 0);
}

TEST_F(Output, AFullDiskAtTheEndTellsWhatIsLostAndShowsTheResult) {
  FakeServer server{hello};
  largest_file_ = 3000;  // the text and load-seconds.csv fit, load.json does not
  const auto outcome = run({"-c", "1", "-r", "50", "-d", "200ms", "--out", result_folder(), server.url()});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("load.json"));
  EXPECT_THAT(outcome.err, HasSubstr("File too large"));
  EXPECT_THAT(outcome.err, HasSubstr("holds no result"));
  EXPECT_THAT(outcome.out, HasSubstr("10 planned = 10 sent"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "result/load.json"));
}

TEST_F(Output, AReaderThatGoesAwayDoesNotEndTheRun) {
  FakeServer server{hello};
  standard_output_ = folder_ / "pipe";
  ASSERT_EQ(mkfifo(standard_output_.c_str(), 0600), 0);
  const auto pid =
      start({"-c", "1", "-r", "50", "-d", "1500ms", "--events", "-", "--out", result_folder(), server.url()});
  {
    std::ifstream head{standard_output_};
    std::string line;
    std::getline(head, line);
    EXPECT_THAT(line, HasSubstr("started"));
  }
  const auto outcome = finish(pid);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("cannot write to standard output: Broken pipe"));
  EXPECT_EQ(load_json().at("status").as_string(), "complete");
  EXPECT_EQ(load_json().at("window").at("ok").as_int64(), 75);
}

TEST_F(Output, AnOlderResultDoesNotStandForAFailedRun) {
  std::filesystem::create_directories(folder_ / "result");
  std::ofstream{folder_ / "result/load.json"} << "{}";
  FakeServer server{hello};
  const auto pid = start({"-c", "1", "-r", "50", "-d", "60s", "--out", result_folder(), server.url()});
  for (int i = 0; i < 2000 && server.seen().size() < 5; ++i) std::this_thread::sleep_for(5ms);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "result/load.json"));
  kill(pid, SIGTERM);
  EXPECT_EQ(finish(pid).exit_code, 130);
  EXPECT_EQ(load_json().at("reason").as_string(), "SIGTERM");
}

// Short steps and few repeats, unless `more` says otherwise.
std::vector<std::string> quick_search(std::vector<std::string> more) {
  const std::vector<std::pair<std::string, std::string>> defaults{
      {"--step-time", "100ms"}, {"--warmup", "50ms"}, {"--pause", "10ms"}, {"--repeats", "3"}};
  std::vector<std::string> out{"find-max", "-c", "1"};
  for (const auto& [option, value] : defaults) {
    if (std::find(more.begin(), more.end(), option) == more.end()) out.insert(out.end(), {option, value});
  }
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

TEST_F(Output, FindMaxStopsAtItsLimit) {
  FakeServer server{hello};
  const auto outcome = run(quick_search({"--from", "50", "--to", "100", "--slo", "errors=0%,rate=50%",
                                         "--out", result_folder(), server.url()}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("confirmed    100 requests per second: 3 of 3 repeats passed"));
  EXPECT_THAT(outcome.out, HasSubstr("--to 100: the server may do more"));
  const auto json = boost::json::parse(content(folder_ / "result/find-max.json")).as_object();
  EXPECT_EQ(json.at("status").as_string(), "complete");
  EXPECT_EQ(json.at("result").at("boundedBy").as_string(), "limit");
  const auto steps = json.at("steps").as_array().size();
  EXPECT_GE(steps, 5U);
  for (std::size_t i = 1; i <= steps; ++i) {
    const auto file = folder_ / "result" / ("step-0" + std::to_string(i) + ".json");
    EXPECT_EQ(boost::json::parse(content(file)).at("schema").as_int64(), 1);
  }
}

TEST_F(Output, FindMaxEndsWhenTheServerIsGone) {
  const auto gone = "http://127.0.0.1:" + std::to_string(heddle::testing::closed_port());
  const auto outcome = run({"find-max", "--slo", "errors=1%,ok-rate=0/s", "--out", folder_ / "gone",
                            "--step-time", "100ms", gone});
  EXPECT_EQ(outcome.exit_code, 1);
  const auto json = boost::json::parse(content(folder_ / "gone/find-max.json")).as_object();
  EXPECT_EQ(json.at("status"), "failed");
  EXPECT_THAT(std::string{json.at("reason").as_string()}, HasSubstr("no connection to 127.0.0.1"));
  EXPECT_TRUE(json.at("steps").as_array().empty());
}

TEST_F(Output, FindMaxTellsAndLimitsTheLengthOfItsSteps) {
  FakeServer server{hello};
  const auto slow = run({"find-max", "--slo", "p99=1s", "--from", "1e-6", server.url()});
  EXPECT_EQ(slow.exit_code, 2);
  EXPECT_THAT(slow.err, HasSubstr("--from: found 1e-06, accepted: 3.056 or more"));
  EXPECT_EQ(server.accepted(), 0);
  const auto told =
      run(quick_search({"--slo", "errors=50%,ok-rate=0/s", "--from", "20", "--to", "20", server.url()}));
  EXPECT_THAT(told.out, ::testing::StartsWith("steps of 0.1 s\n"));
}

TEST_F(Output, FindMaxFindsAServersCapacity) {
  // One connection, 5 ms for each answer: about 200 per second.
  FakeServer server{[](const FakeServer::Peer& peer, const heddle::testing::Seen& seen) {
    peer.pause(5ms);
    return hello(peer, seen);
  }};
  const auto outcome =
      run(quick_search({"--from", "20", "--to", "2000", "--precision", "20", "--slo", "errors=5%,max=200ms",
                        "--grace", "100ms", "--step-time", "1s", "--json", server.url()}));
  // 3: on a busy host the generator may be late where the server is.
  EXPECT_THAT(outcome.exit_code, AnyOf(0, 3)) << outcome.out << outcome.err;
  const auto json = boost::json::parse(outcome.out).as_object();
  const auto& result = json.at("result").as_object();
  if (outcome.exit_code == 0) {
    EXPECT_EQ(result.at("boundedBy").as_string(), "slo");
    EXPECT_LT(result.at("rate").to_number<double>(), 260);
  } else {
    EXPECT_EQ(result.at("boundedBy").as_string(), "generator");
  }
}

TEST_F(Output, FindMaxWithoutASuccessTellsWhy) {
  FakeServer server{busy};
  const auto outcome =
      run(quick_search({"--slo", "errors=1%", "--from", "50", "--out", result_folder(), server.url()}));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("failed: no rate was confirmed; at 50 requests per second: "));
  EXPECT_THAT(outcome.out, HasSubstr("no request succeeded: 5 sent, 5 HTTP 5xx"));
  const auto json = boost::json::parse(content(folder_ / "result/find-max.json")).as_object();
  EXPECT_EQ(json.at("status").as_string(), "failed");
  EXPECT_TRUE(json.at("result").at("rate").is_null());
}

TEST_F(Output, AnInterruptedSearchKeepsItsSteps) {
  FakeServer server{hello};
  const auto arguments = quick_search({"--slo", "errors=50%,ok-rate=0/s", "--from", "20", "--to", "20",
                                       "--repeats", "100", "--out", result_folder(), server.url()});
  const auto pid = start(arguments);
  for (int i = 0; i < 2000 && !std::filesystem::exists(folder_ / "result/step-02.json"); ++i) {
    std::this_thread::sleep_for(5ms);
  }
  kill(pid, SIGINT);
  const auto outcome = finish(pid);
  EXPECT_EQ(outcome.exit_code, 130);
  EXPECT_THAT(outcome.out, HasSubstr("interrupted: SIGINT"));
  const auto json = boost::json::parse(content(folder_ / "result/find-max.json")).as_object();
  EXPECT_EQ(json.at("status").as_string(), "interrupted");
  EXPECT_GE(json.at("steps").as_array().size(), 1U);
}

TEST_F(Output, BashCompletesOptionsAndValues) {
  std::ofstream{folder_ / "script"} << run({"--completion", "bash"}).out;
  const auto completed = [this](const std::string& words, int at) {
    const auto command = "bash -c 'source " + (folder_ / "script").string() + "; COMP_WORDS=(" + words +
                         "); COMP_CWORD=" + std::to_string(at) +
                         "; _heddle_load; echo \"${COMPREPLY[*]}\"' > " + (folder_ / "words").string();
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return content(folder_ / "words");
  };
  EXPECT_EQ(completed("heddle-load --conn", 1), "--connections --connect-rate --connect-timeout\n");
  EXPECT_EQ(completed("heddle-load --when-busy s", 2), "shed\n");
  EXPECT_EQ(completed("heddle-load find", 1), "find-max\n");
  EXPECT_EQ(completed("heddle-load find-max --fr", 2), "--from\n");
  EXPECT_EQ(completed("heddle-load --fr", 1), "\n");
  EXPECT_EQ(completed("heddle-load -r --", 2), "\n");
}

}  // namespace
}  // namespace heddle
