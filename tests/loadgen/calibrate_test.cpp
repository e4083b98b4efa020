// The null server, the arithmetic of the check with a stall, and a whole calibration in small. Nothing here
// looks at how fast this machine is.
#include "loadgen/calibrate/calibrate.hpp"

#include "loadgen/calibrate/arithmetic.hpp"
#include "loadgen/calibrate/ceiling_file.hpp"
#include "loadgen/calibrate/null_server.hpp"
#include "loadgen/engine/clock.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::load {
namespace {

using engine::monotonic_now;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A client that blocks, 10 s at most.
class Client {
 public:
  explicit Client(std::uint16_t port) : fd_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval limit{10, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    open_ = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~Client() { close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  [[nodiscard]] bool open() const { return open_; }
  void write(std::string_view text) const { (void)::send(fd_, text.data(), text.size(), MSG_NOSIGNAL); }
  // Exactly so many bytes, less when the server closes or does not answer.
  [[nodiscard]] std::string read(std::size_t bytes) const {
    std::string text(bytes, '\0');
    const auto count = recv(fd_, text.data(), bytes, MSG_WAITALL);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    return text;
  }
  [[nodiscard]] bool silent_for(int millis) const {
    pollfd wait{fd_, POLLIN, 0};
    return poll(&wait, 1, millis) == 0;
  }

 private:
  int fd_;
  bool open_ = false;
};

const std::string kRequest = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const std::string kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nnull server\n";

TEST(NullServer, AnswersManyRequestsOnOneConnection) {
  const NullServer server{std::nullopt};
  const Client client{server.port()};
  ASSERT_TRUE(client.open());
  for (int i = 0; i < 1000; ++i) {
    client.write(kRequest);
    ASSERT_EQ(client.read(kAnswer.size()), kAnswer) << i;
  }
  EXPECT_EQ(server.answered(), 1000);
  EXPECT_TRUE(client.silent_for(20));
  EXPECT_EQ(server.problem(), "");
}

TEST(NullServer, TakesARequestInPiecesAndTwoAtOnce) {
  const NullServer server{std::nullopt};
  const Client client{server.port()};
  for (const char c : kRequest) {
    EXPECT_TRUE(client.silent_for(0));
    client.write({&c, 1});
  }
  EXPECT_EQ(client.read(kAnswer.size()), kAnswer);
  client.write(kRequest + kRequest);
  EXPECT_EQ(client.read(2 * kAnswer.size()), kAnswer + kAnswer);
  client.write("GET / HTTP/1.1\r\nX: \r\r\n\r\n");  // a lone CR is not half an end
  EXPECT_EQ(client.read(kAnswer.size()), kAnswer);
}

TEST(NullServer, StandsStillAsLongAsToldAndLogsIt) {
  NullServer server{std::nullopt};
  const Client before{server.port()};
  before.write(kRequest);
  ASSERT_EQ(before.read(kAnswer.size()), kAnswer);
  EXPECT_FALSE(server.last_stall());
  const auto at = monotonic_now() + 50 * plan::kMillisecond;
  server.stall(at, 150 * plan::kMillisecond);
  while (monotonic_now() < at + 20 * plan::kMillisecond) usleep(1000);
  before.write(kRequest);
  const Client meanwhile{server.port()};  // the kernel connects it, nobody takes it
  meanwhile.write(kRequest);
  EXPECT_EQ(before.read(kAnswer.size()), kAnswer);
  const auto answered_at = monotonic_now();
  EXPECT_EQ(meanwhile.read(kAnswer.size()), kAnswer);
  const auto stall = server.last_stall();
  ASSERT_TRUE(stall);
  EXPECT_GE(stall->began, at);
  EXPECT_GE(stall->ended - stall->began, 150 * plan::kMillisecond);
  EXPECT_GE(answered_at, stall->ended);
}

TEST(NullServer, EndsWithItsOwner) {
  std::uint16_t port = 0;
  {
    const NullServer server{std::nullopt};
    port = server.port();
    ASSERT_TRUE(Client{port}.open());
  }
  EXPECT_FALSE(Client{port}.open());
}

TEST(NullServer, EndsWithAProcessThatWasKilled) {
  std::array<int, 2> channel{};
  ASSERT_EQ(pipe(channel.data()), 0);
  const pid_t owner = fork();
  if (owner == 0) {
    alarm(30);  // whatever becomes of this test
    const NullServer server{std::nullopt};
    const auto port = server.port();
    (void)!write(channel[1], &port, sizeof port);
    pause();
    _exit(0);
  }
  std::uint16_t port = 0;
  EXPECT_EQ(read(channel[0], &port, sizeof port), static_cast<ssize_t>(sizeof port));
  EXPECT_TRUE(Client{port}.open());
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
  const auto limit = monotonic_now() + 10 * plan::kSecond;
  while (Client{port}.open() && monotonic_now() < limit) usleep(1000);
  EXPECT_FALSE(Client{port}.open());
  close(channel[0]);
  close(channel[1]);
}

// ---- arithmetic ----------------------------------------------------------------------------------------

// One server, first in, first out, that needs 1 / capacity for an answer and stands still once. Times in s.
double simulated_quantile(double rate, double capacity, double window, double stall_at, double stall,
                          double q) {
  std::vector<double> latencies;
  double free_at = 0;
  for (int k = 0; static_cast<double>(k) < rate * window; ++k) {
    const double due = k / rate;
    double start = std::max(due, free_at);
    if (start >= stall_at && start < stall_at + stall) start = stall_at + stall;
    free_at = start + 1 / capacity;
    latencies.push_back(free_at - due);
  }
  std::sort(latencies.begin(), latencies.end());
  return latencies[static_cast<std::size_t>(std::ceil(q * static_cast<double>(latencies.size()))) - 1];
}

TEST(Arithmetic, TheQuantileOfAStallIsWhatASimulationShows) {
  for (const double utilisation : {0.01, 0.1, 0.3, 0.6}) {
    for (const double stall : {0.05, 0.2, 0.4}) {
      for (const double q : {0.9, 0.95, 0.99}) {
        const double rate = 20'000;
        const double capacity = rate / utilisation;
        const double simulated = simulated_quantile(rate, capacity, 2, 0.5, stall, q);
        // An answer takes 1 / capacity without a stall, and latencies come in steps of 1 / rate.
        EXPECT_NEAR(stall_quantile(stall, 2, utilisation, q), simulated, 1 / capacity + 2 / rate)
            << utilisation << " " << stall << " " << q;
      }
    }
  }
}

TEST(Arithmetic, AStallOfATenthOfTheWindowShowsInTheP99) {
  EXPECT_DOUBLE_EQ(stall_quantile(200, 2000, 0, 0.99), 180);
  EXPECT_DOUBLE_EQ(stall_quantile(200, 2000, 0.5, 0.99), 190);
  EXPECT_DOUBLE_EQ(stall_quantile(10, 2000, 0, 0.99), 0);  // half a percent: not in the p99
}

TEST(Arithmetic, ThreadsAndNullServersGetCpusOfTheirOwn) {
  const std::vector<int> four{0, 1, 4, 5};
  auto choice = choose_cpus(four, {}, 2);
  EXPECT_THAT(choice.threads, ElementsAre(0, 1));
  EXPECT_THAT(choice.servers, ElementsAre(4, 5));
  EXPECT_FALSE(choice.shared);
  choice = choose_cpus(four, {1}, 2);
  EXPECT_THAT(choice.threads, ElementsAre(1));
  EXPECT_THAT(choice.servers, ElementsAre(0, 4, 5));
  choice = choose_cpus({3}, {}, 1);
  EXPECT_THAT(choice.threads, ElementsAre(3));
  EXPECT_THAT(choice.servers, ElementsAre(3));
  EXPECT_TRUE(choice.shared);
  EXPECT_TRUE(choose_cpus(four, {}, 8).shared);
}

TEST(Arithmetic, ASpreadIsMedianMinimumAndMaximum) {
  const auto odd = spread_of({3, 9, 1});
  EXPECT_EQ(odd.median, 3);
  EXPECT_EQ(odd.low, 1);
  EXPECT_EQ(odd.high, 9);
  EXPECT_EQ(spread_of({4, 1, 2, 9}).median, 3);
  EXPECT_EQ(spread_of({7}).high, 7);
}

TEST(StallCheck, PassesOnlyWhenMeasuredAndNear) {
  StallCheck check;
  check.expected_due_millis = 180;
  check.tolerance_millis = 20;
  check.most_sent_millis = 20;
  EXPECT_FALSE(check.due_passed());
  EXPECT_FALSE(check.sent_passed());
  check.due_millis = 199;
  check.sent_millis = 19;
  EXPECT_TRUE(check.due_passed());
  EXPECT_TRUE(check.sent_passed());
  // A generator that counts from sending would see neither in the latency from due.
  check.due_millis = 0.2;
  EXPECT_FALSE(check.due_passed());
  // One that mistakes waiting for service would see it in both.
  check.sent_millis = 180;
  EXPECT_FALSE(check.sent_passed());
}

// ---- the whole -----------------------------------------------------------------------------------------

StepSizes tiny_steps() {
  StepSizes sizes;
  sizes.repeats = 2;
  sizes.warmup = 50 * plan::kMillisecond;
  sizes.ceiling = 100 * plan::kMillisecond;
  sizes.ceiling_connections = {4, 16};
  sizes.pacing = 200 * plan::kMillisecond;
  sizes.many_connections = 100;
  sizes.many_rate = 1000;
  // Long, so that what other tests take of this machine lies within its tolerance.
  sizes.stall = 600 * plan::kMillisecond;
  sizes.stall_window = 3 * plan::kSecond;
  sizes.stall_rate = 1500;
  return sizes;
}

class Calibrating : public ::testing::Test {
 protected:
  Calibrating() {
    std::string name = std::filesystem::temp_directory_path() / "heddle-calibrate-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~Calibrating() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] static std::string content(const std::filesystem::path& file) {
    std::ifstream in{file};
    return {std::istreambuf_iterator<char>{in}, {}};
  }
  std::filesystem::path folder_;
};

TEST_F(Calibrating, MeasuresEveryStepAndSeesTheStall) {
  MeasureOptions options;
  options.threads = 2;
  options.sizes = tiny_steps();
  std::vector<std::string> steps;
  options.progress = [&](const std::string& step) { steps.push_back(step); };
  const auto result = measure_host(options);
  EXPECT_EQ(steps.size(), 7U);
  EXPECT_EQ(result.threads, 2);
  ASSERT_EQ(result.ceiling.size(), 2U);
  for (const auto& point : result.ceiling) {
    EXPECT_GT(point.per_second.low, 0);
    EXPECT_LE(point.per_second.low, point.per_second.median);
    EXPECT_LE(point.per_second.median, point.per_second.high);
    EXPECT_GT(point.cpu_micros.median, 0);
    EXPECT_GT(point.busy_share.median, 0);
  }
  ASSERT_EQ(result.pacing.size(), 2U);
  EXPECT_EQ(result.pacing[1].connections, 100);
  EXPECT_EQ(result.pacing[1].skipped, "");
  EXPECT_TRUE(result.pacing[1].max);
  // 600 ms of 3 s: 1 % of the requests waited for 570 ms or more, but hardly any of them on the wire.
  const auto& stall = result.stall;
  EXPECT_GE(stall.stall_millis, 600);
  ASSERT_TRUE(stall.due_millis);
  ASSERT_TRUE(stall.sent_millis);
  // A busy machine can only add to either.
  EXPECT_GE(*stall.due_millis, stall.expected_due_millis - stall.tolerance_millis);
  EXPECT_LT(*stall.sent_millis, stall.stall_millis / 2);
}

TEST_F(Calibrating, TooFewDescriptorsSkipAStepAndSayWhy) {
  MeasureOptions options;
  options.sizes = tiny_steps();
  options.sizes.stall_window = 400 * plan::kMillisecond;
  options.sizes.stall = 40 * plan::kMillisecond;
  options.sizes.many_connections = 1000;
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few{400, 400};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);  // without privileges for good: enough for the other tests
  const auto result = measure_host(options);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_THAT(result.pacing.back().skipped, HasSubstr("1000 connections"));
  EXPECT_FALSE(result.pacing.back().p99);
  EXPECT_THAT(calibration_report(result), HasSubstr("not measured: "));
}

TEST_F(Calibrating, StoresWhatALaterRunReads) {
  CalibrateOptions options;
  options.measure.sizes = tiny_steps();
  options.file = folder_ / "new/folder/calibration.json";
  options.version = "1.2.3";
  ::testing::internal::CaptureStdout();
  const int exit_code = calibrate(options);
  const auto printed = ::testing::internal::GetCapturedStdout();
  const auto text = content(options.file);
  EXPECT_THAT(printed, HasSubstr("stored in " + options.file.string()));
  EXPECT_THAT(printed, HasSubstr("latency from due shows the stall: expected"));
  const auto json = boost::json::parse(text).as_object();
  EXPECT_EQ(exit_code, json.at("passed").as_bool() ? 0 : 1);
  EXPECT_EQ(json.at("version").as_string(), "1.2.3");
  EXPECT_TRUE(json.at("stall").at("fromDue").at("p99Millis").is_double());
  EXPECT_EQ(json.at("pacing").as_array().size(), 2U);
  EXPECT_TRUE(json.at("pacing").at(0).at("skipped").is_null());
  const auto stored = parse_ceiling(text);
  EXPECT_TRUE(stored.host.same_host(this_host()));
  ASSERT_EQ(stored.points.size(), 2U);
  EXPECT_EQ(stored.points[0].connections_per_thread, 4);
  EXPECT_EQ(stored.points[1].connections_per_thread, 16);
  EXPECT_GT(stored.points[0].per_second_per_thread, 0);
  EXPECT_FALSE(std::filesystem::exists(options.file.string() + ".tmp"));
  EXPECT_FALSE(std::filesystem::exists(options.file.string() + ".probe"));
}

TEST_F(Calibrating, APlaceThatCannotBeWrittenIsFoundBeforeAnythingIsMeasured) {
  CalibrateOptions options;
  options.measure.progress = [](const std::string&) { ADD_FAILURE() << "measured"; };
  std::ofstream{folder_ / "file"} << "x";
  options.file = folder_ / "file/below.json";
  EXPECT_THROW((void)calibrate(options), std::invalid_argument);
  options.file = folder_;
  EXPECT_THROW((void)calibrate(options), std::invalid_argument);
}

TEST_F(Calibrating, TheDefaultPlaceFollowsTheEnvironment) {
  const auto kept = [](const char* name) { return std::string{std::getenv(name) ? std::getenv(name) : ""}; };
  const auto state = kept("XDG_STATE_HOME");
  const auto home = kept("HOME");
  setenv("XDG_STATE_HOME", "/state", 1);
  EXPECT_EQ(default_calibration_file(), "/state/heddle/load-calibration.json");
  setenv("XDG_STATE_HOME", "relative", 1);
  setenv("HOME", "/people/one", 1);
  EXPECT_EQ(default_calibration_file(), "/people/one/.local/state/heddle/load-calibration.json");
  unsetenv("XDG_STATE_HOME");
  unsetenv("HOME");
  EXPECT_TRUE(default_calibration_file().empty());
  if (!state.empty()) setenv("XDG_STATE_HOME", state.c_str(), 1);
  if (!home.empty()) setenv("HOME", home.c_str(), 1);
}

}  // namespace
}  // namespace heddle::load
