// The real binary: rows per request, the calibrated ceiling, and a calibration that is interrupted.
#include "loadgen/calibrate/ceiling_file.hpp"
#include "tests/loadgen/command_line.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include <gmock/gmock.h>

namespace heddle {
namespace {

using heddle::testing::content;
using heddle::testing::FakeServer;
using heddle::testing::hello;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

class Program : public heddle::testing::CommandLine {
 protected:
  Program() {
    // No calibration of this machine takes part.
    setenv("XDG_STATE_HOME", (folder_ / "state").c_str(), 1);
  }
  ~Program() override { unsetenv("XDG_STATE_HOME"); }

  [[nodiscard]] std::string rows() const { return folder_ / "rows.csv"; }
  [[nodiscard]] std::int64_t lines() const {
    const auto text = content(rows());
    return std::count(text.begin(), text.end(), '\n');
  }
  // Of this host, with `per_second` for any number of connections.
  [[nodiscard]] std::string calibration(double per_second) const {
    load::Calibration c;
    c.utc = "2026-01-31T12:34:56.789Z";
    c.host = load::this_host();
    load::CeilingPoint point;
    point.connections = 64;
    point.per_second = {per_second, per_second, per_second};
    c.ceiling = {point};
    c.stall.due_millis = c.stall.sent_millis = 0;
    const auto file = folder_ / "calibration.json";
    load::write_calibration(c, file);
    return file;
  }
};

TEST_F(Program, WritesARowForEachRequestAndSaysSo) {
  FakeServer server{hello};
  const auto outcome = run({"-c", "2", "-r", "100", "-d", "500ms", "-w", "200ms", "--record-requests", rows(),
                            "--out", result_folder(), server.url()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(lines(), 71);
  EXPECT_THAT(outcome.out, HasSubstr("70 rows in " + rows() + ", 0 dropped"));
  const auto log = load_json().at("requestLog").as_object();
  EXPECT_EQ(log.at("file").as_string(), rows());
  EXPECT_EQ(log.at("rows").as_int64(), 70);
  EXPECT_EQ(log.at("dropped").as_int64(), 0);
}

TEST_F(Program, RowsThatCannotBeWrittenAreFoundBeforeTheRun) {
  FakeServer server{hello};
  auto outcome = run({"-r", "10", "--record-requests", folder_ / "none/rows.csv", server.url()});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("none/rows.csv"));
  outcome = run({"-r", "10", "--record-requests", "-", server.url()});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(server.accepted(), 0);
}

TEST_F(Program, ADiskThatFillsUpLosesRowsNotTheRun) {
  FakeServer server{hello};
  largest_file_ = 8192;
  const auto outcome =
      run({"-c", "2", "-r", "1000", "-d", "500ms", "--record-requests", rows(), server.url()});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("cannot write " + rows()));
  EXPECT_THAT(outcome.err, HasSubstr("rows are missing"));
  EXPECT_THAT(outcome.out, HasSubstr("500 planned = "));
}

TEST_F(Program, SaysWhenTheLoadComesNearTheCalibratedCeiling) {
  FakeServer server{hello};
  const std::vector<std::string> load{"-r", "100", "-d", "300ms", "--out", result_folder(), server.url()};
  const auto with = [&](double per_second) {
    auto arguments = load;
    arguments.insert(arguments.begin(), {"--calibration", calibration(per_second)});
    return run(arguments);
  };
  auto outcome = with(150);
  EXPECT_THAT(outcome.err, HasSubstr("66.7 % of this host's calibrated ceiling (150 requests"));
  const auto ceiling = load_json().at("generator").at("ceiling").as_object();
  EXPECT_NEAR(ceiling.at("sharePercent").as_double(), 66.667, 0.001);
  EXPECT_EQ(ceiling.at("perSecondPerThread").to_number<double>(), 150);
  EXPECT_EQ(ceiling.at("calibrated").as_string(), "2026-01-31T12:34:56.789Z");
  outcome = with(1000);
  EXPECT_THAT(outcome.err, Not(HasSubstr("ceiling")));
  EXPECT_THAT(outcome.out, HasSubstr("ceiling: 10.0 % of 1000"));
  outcome = run(load);
  EXPECT_TRUE(load_json().at("generator").at("ceiling").is_null());
  EXPECT_THAT(outcome.out, Not(HasSubstr("ceiling")));
}

TEST_F(Program, FindMaxLooksAtTheCeilingOfEachStep) {
  FakeServer server{hello};
  const auto search = [&](const std::string& file) {
    return run({"find-max",      "--slo",     "errors=50%,ok-rate=0/s",
                "--from",        "50",        "--to",
                "100",           "--repeats", "1",
                "--step-time",   "100ms",     "--warmup",
                "50ms",          "--pause",   "10ms",
                "--calibration", file,        "--out",
                result_folder(), server.url()});
  };
  const auto near = search(calibration(150));
  EXPECT_THAT(near.out, HasSubstr("66.7 % of this host's calibrated ceiling"));
  EXPECT_THAT(near.out, Not(HasSubstr("33.3 % of this host's")));
  const auto json = boost::json::parse(content(folder_ / "result/find-max.json")).as_object();
  EXPECT_NEAR(json.at("steps").at(0).at("ceilingPercent").as_double(), 33.333, 0.001);
  const auto step = boost::json::parse(content(folder_ / "result/step-01.json")).as_object();
  EXPECT_NEAR(step.at("generator").at("ceiling").at("sharePercent").as_double(), 33.333, 0.001);
  const auto missing = search(folder_ / "none.json");
  const auto first = missing.err.find("none.json is ignored");
  ASSERT_NE(first, std::string::npos) << missing.err;
  EXPECT_EQ(missing.err.find("none.json is ignored", first + 1), std::string::npos);  // told once
}

TEST_F(Program, AnInterruptedCalibrationStoresNothing) {
  const auto file = folder_ / "state/heddle/load-calibration.json";
  const pid_t pid = start({"--calibrate", "--quick"});
  // Its folder is made first; then it measures for seconds.
  const auto limit = std::chrono::steady_clock::now() + 20s;
  while (!std::filesystem::exists(file.parent_path()) && std::chrono::steady_clock::now() < limit) {
    std::this_thread::sleep_for(1ms);
  }
  std::this_thread::sleep_for(100ms);
  kill(pid, SIGINT);
  const auto outcome = finish(pid);
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("nothing was stored"));
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(Program, ACalibrationThatCannotBeStoredFailsAtOnce) {
  const auto outcome = run({"--calibrate", "--calibration", folder_});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("cannot write"));
  EXPECT_EQ(outcome.out, "");
  std::ofstream{folder_ / "file"} << "x";
  EXPECT_EQ(run({"--calibrate", "--calibration", folder_ / "file/inside.json"}).exit_code, 2);
}

}  // namespace
}  // namespace heddle
