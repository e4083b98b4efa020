#include "loadgen/report/console.hpp"
#include "loadgen/report/hlog.hpp"
#include "loadgen/report/load_json.hpp"
#include "loadgen/report/output_file.hpp"
#include "loadgen/report/series.hpp"
#include "loadgen/report/text.hpp"
#include "tests/loadgen/hlog_decoder.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <sys/resource.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::report {
namespace {

using heddle::testing::decode;
using heddle::testing::decode_compressed;
using heddle::testing::from_base64;
using heddle::testing::read_zigzag;
using ::testing::HasSubstr;
using ::testing::Not;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = std::filesystem::temp_directory_path() / "heddle-report-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

std::string content(const std::filesystem::path& file) {
  std::ifstream in{file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

std::string bytes_of(std::int64_t value) {
  std::string out;
  append_zigzag(out, value);
  return out;
}

TEST(ZigZag, KnownBytes) {
  EXPECT_EQ(bytes_of(0), std::string("\0", 1));
  EXPECT_EQ(bytes_of(-1), "\x01");
  EXPECT_EQ(bytes_of(1), "\x02");
  EXPECT_EQ(bytes_of(63), "\x7e");
  EXPECT_EQ(bytes_of(64), std::string("\x80\x01"));
  EXPECT_EQ(bytes_of(-65), std::string("\x81\x01"));
  EXPECT_EQ(bytes_of(INT64_MAX).size(), 9U);
}

TEST(ZigZag, ReadsBackWhatItWrote) {
  std::vector<std::int64_t> values{
      0, 1, -1, INT64_MAX, INT64_MIN, INT64_MAX - 1, 1LL << 55, -(1LL << 55), 1LL << 56};
  for (int bit = 0; bit < 63; ++bit) {
    values.push_back((1LL << bit) - 1);
    values.push_back(-(1LL << bit));
  }
  std::string all;
  for (const auto value : values) append_zigzag(all, value);
  std::size_t at = 0;
  for (const auto value : values) EXPECT_EQ(read_zigzag(all, at), value);
  EXPECT_EQ(at, all.size());
  EXPECT_THROW((void)read_zigzag(all, at), std::invalid_argument);
}

TEST(HistogramEncoding, HeaderIsHdrHistogramsV2) {
  record::Histogram histogram;
  histogram.record(1);
  const auto bytes = encode(histogram);
  // Cookie, payload length 2, offset 0, 2 digits, lowest 1, highest 600,000,000, ratio 1.0; then one empty
  // bucket and a count of one.
  const std::string expected(
      "\x1c\x84\x93\x13\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x01"
      "\x00\x00\x00\x00\x23\xc3\x46\x00\x3f\xf0\x00\x00\x00\x00\x00\x00\x01\x02",
      42);
  EXPECT_EQ(bytes, expected);
}

TEST(HistogramEncoding, ReadsBackEveryBucket) {
  std::mt19937_64 random{3};
  std::lognormal_distribution<double> law{10, 3};
  record::Histogram histogram;
  for (int i = 0; i < 50'000; ++i) histogram.record(static_cast<std::int64_t>(law(random)));
  record::Histogram many;  // more than 32 bits hold
  many.record(5);
  for (int doubling = 0; doubling < 33; ++doubling) many.merge(record::Histogram{many});
  histogram.merge(many);
  const auto back = decode_compressed(encode_compressed(histogram));
  EXPECT_EQ(back, histogram.counts());
  EXPECT_EQ(std::accumulate(back.begin(), back.end(), std::int64_t{0}),
            50'000 - histogram.overflow() + (1LL << 33));
  EXPECT_THAT(decode_compressed(encode_compressed(record::Histogram{})), ::testing::Each(0));
}

TEST(HistogramEncoding, RefusesDamage) {
  record::Histogram histogram;
  histogram.record(1000);
  const auto good = encode(histogram);
  EXPECT_THROW((void)decode(std::string_view{good}.substr(0, good.size() - 1)), std::invalid_argument);
  EXPECT_THROW((void)decode("short"), std::invalid_argument);
  auto other = good;
  other[15] = 3;
  EXPECT_THROW((void)decode(other), std::invalid_argument);
  EXPECT_THROW((void)decode_compressed("!!"), std::invalid_argument);
}

TEST(Base64, Rfc4648Vectors) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(from_base64("Zm9vYg=="), "foob");
}

record::RunInfo info() {
  record::RunInfo info;
  info.name = "n";
  info.anchor = {1'700'000'000'500, 1'000'000'000};
  info.classes = {"get", "post"};
  info.stages = {"warm", "measure"};
  info.stage_measured = {false, true};
  return info;
}

void add_ok(record::Cell& cell, int count, std::int64_t micros) {
  cell.counts.planned += count;
  cell.counts.sent += count;
  cell.counts.ok += count;
  for (int i = 0; i < count; ++i) {
    cell.latency.answered.record(micros);
    cell.service.answered.record(micros / 2);
  }
}

TEST(HlogWriter, TagsKeepTheWarmUpApart) {
  const TemporaryFolder folder;
  {
    HlogWriter writer{folder / "load.hlog"};
    writer.started(info());
    record::Interval data{2, 2};
    add_ok(data.cell(0, 0), 1, 111);
    add_ok(data.cell(1, 1), 1, 2'000);
    data.cell(0, 0).latency.waiting.record(1);  // of the warm-up
    data.cell(1, 1).latency.waiting.record(5'000);
    data.cell(1, 1).service.waiting.record(4'000);
    writer.second({0, 1, 2'000'000'000, 3'000'000'000, &data});
  }
  std::ifstream in{folder / "load.hlog"};
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("Tag=")) lines.push_back(line);
  }
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_THAT(lines[0], ::testing::StartsWith("Tag=warmup-latency:get,1.000,1.000,0.111,HISTFAAAA"));
  EXPECT_THAT(lines[1], ::testing::StartsWith("Tag=warmup-service:get,"));
  EXPECT_THAT(lines[2], ::testing::StartsWith("Tag=latency:post,1.000,1.000,2.000,"));
  EXPECT_THAT(lines[3], ::testing::StartsWith("Tag=service:post,1.000,1.000,1.000,"));
  EXPECT_THAT(lines[4], ::testing::StartsWith("Tag=waiting:post,1.000,1.000,5.000,"));
  const auto counts_of = [](std::int64_t micros) {
    record::Histogram expected;
    expected.record(micros);
    return expected.counts();
  };
  EXPECT_EQ(decode_compressed(lines[2].substr(lines[2].rfind(',') + 1)), counts_of(2'000));
  EXPECT_EQ(decode_compressed(lines[4].substr(lines[4].rfind(',') + 1)), counts_of(5'000));
}

TEST(OutputFile, NothingFollowsHalfARow) {
  const TemporaryFolder folder;
  const auto file = folder / "rows.csv";
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  {
    OutputFile out{file};
    out.write("1,2\n");
    const rlimit full{6, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &full);
    out.write("3,4\n");
    EXPECT_THAT(out.problem(), HasSubstr("rows.csv: File too large"));
    setrlimit(RLIMIT_FSIZE, &before);  // there is room again
    out.write("5,6\n");
    EXPECT_THAT(out.problem(), HasSubstr("rows.csv: File too large"));
  }
  std::signal(SIGXFSZ, old);
  EXPECT_EQ(content(file), "1,2\n3,");
}

TEST(Fanout, TellsEveryProblem) {
  struct Failing final : record::RunListener {
    explicit Failing(std::string text) : what{std::move(text)} {}
    void started(const record::RunInfo&) override {}
    void connected(const record::ConnectionStats&, std::int64_t) override {}
    void stage_started(std::size_t, std::int64_t) override {}
    void stage_ended(std::size_t, std::int64_t) override {}
    void second(const record::Second&) override {}
    void done(const record::RunResult&) override {}
    [[nodiscard]] std::string problem() const override { return what; }
    std::string what;
  };
  Fanout fanout;
  for (const char* what : {"", "cannot write a", "", "cannot write b"}) {
    fanout.add(std::make_unique<Failing>(what));
  }
  EXPECT_EQ(fanout.problem(), "cannot write a; cannot write b");
}

TEST(SecondsCsv, OneRowPerStageAndRequestWithTheEndOfItsInterval) {
  const TemporaryFolder folder;
  {
    SecondsCsv writer{folder / "load-seconds.csv"};
    writer.started(info());
    record::Interval data{2, 2};
    add_ok(data.cell(1, 0), 3, 100);
    data.cell(1, 0).counts.in_flight = 2;
    data.spin_nanos = 7'000'000;
    writer.second({0, 1, 2'000'000'000, 3'000'000'000, &data});
  }
  EXPECT_EQ(
      content(folder / "load-seconds.csv"),
      "epoch_millis,monotonic_nanos,stage,request,offered,sent,ok,http_errors,transport_errors,timeouts,"
      "in_flight,bytes_sent,bytes_received,lag_micros_p99,interval_millis,spin_micros\n"
      "1700000002500,3000000000,measure,get,3,3,3,0,0,0,2,0,0,,1000.000,7000\n");
}

record::RunResult result() {
  record::RunResult result;
  result.info = info();
  for (int i = 0; i < 2; ++i) {
    record::StageResult stage{info().stages[static_cast<std::size_t>(i)], i == 1, 1'000, 2'000'001'000, {}};
    stage.classes.resize(2);
    add_ok(stage.classes[0], 300, 2'000);
    result.stages.push_back(stage);
  }
  auto third = result.stages[1];
  third.name = "more";
  third.end_nanos = 5'000'001'000;
  third.classes[1].counts.sent = third.classes[1].counts.planned = 200;
  third.classes[1].counts.timeouts = 200;
  for (int i = 0; i < 200; ++i) third.classes[1].latency.waiting.record(60'000'000);
  result.info.stages.emplace_back("more");
  result.info.stage_measured.push_back(true);
  result.stages.push_back(third);
  return result;
}

TEST(LoadJson, WindowIsTheMergeOfTheMeasureStages) {
  const auto json = load_json(result());
  EXPECT_EQ(json.at("status").as_string(), "complete");
  EXPECT_TRUE(json.at("reason").is_null());
  EXPECT_EQ(json.at("stages").as_array().size(), 3U);
  const auto& window = json.at("window").as_object();
  EXPECT_EQ(window.at("planned").as_int64(), 800);
  EXPECT_EQ(window.at("ok").as_int64(), 600);
  EXPECT_EQ(window.at("timeouts").as_int64(), 200);
  EXPECT_EQ(window.at("startMonotonicNanos").as_int64(), 1'000);
  EXPECT_EQ(window.at("endMonotonicNanos").as_int64(), 5'000'001'000);
  EXPECT_DOUBLE_EQ(window.at("durationMillis").as_double(), 5000.0);
  const auto& latency = window.at("latencyMillis").as_object();
  EXPECT_DOUBLE_EQ(latency.at("p50").as_double(), 2.0);
  EXPECT_TRUE(latency.at("p99").is_null());
  EXPECT_THAT(std::string{latency.at("max").as_string()}, ::testing::StartsWith(">=60000"));
  EXPECT_EQ(latency.at("count").as_int64(), 600);
  EXPECT_EQ(latency.at("atLeastCount").as_int64(), 200);
  const auto& post = window.at("classes").as_array()[1].as_object();
  EXPECT_EQ(post.at("name").as_string(), "post");
  EXPECT_TRUE(post.at("latencyMillis").as_object().at("min").is_null());
}

TEST(LoadJson, AnEmptyRunIsValidJsonWithNulls) {
  record::RunResult empty;
  empty.status = record::Status::failed;
  empty.reason = "because \"of\"\n that";
  const auto text = pretty(load_json(empty));
  const auto json = boost::json::parse(text).as_object();
  EXPECT_TRUE(json.at("window").is_null());
  EXPECT_EQ(json.at("reason").as_string(), empty.reason);
  EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST(Text, JsonNumbersAreDecimalAndFinite) {
  EXPECT_EQ(compact(boost::json::value{{"a", 0.193}, {"b", nullptr}, {"c", {1, 2}}}),
            R"({"a":0.193,"b":null,"c":[1,2]})");
  EXPECT_EQ(compact(boost::json::value(std::nan(""))), "null");
  EXPECT_EQ(pretty(boost::json::object{{"a", boost::json::array{}}, {"b", 1}}),
            "{\n  \"a\": [],\n  \"b\": 1\n}\n");
}

TEST(Text, PercentilesForPeople) {
  EXPECT_EQ(quantile_text({}), "-");
  EXPECT_EQ(quantile_text(record::Quantile{1'234, false}), "1.234");
  EXPECT_EQ(quantile_text(record::Quantile{60'000'000, true}, 1), ">=60000.0");
}

TEST(Text, UtcTimes) {
  EXPECT_EQ(utc(1'700'000'000'007), "2023-11-14T22:13:20.007Z");
}

TEST(WriteAtomically, ReplacesOrLeavesAlone) {
  const TemporaryFolder folder;
  const auto file = folder / "a.json";
  write_atomically(file, "one");
  write_atomically(file, "two");
  EXPECT_EQ(content(file), "two");
  EXPECT_FALSE(std::filesystem::exists(folder / "a.json.tmp"));
  EXPECT_THROW(write_atomically(folder / "none/a.json", "x"), std::runtime_error);
}

TEST(WriteAtomically, LeavesNothingBesideWhatItCannotReplace) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "b.json/full");
  EXPECT_THROW(write_atomically(folder / "b.json", "x"), std::runtime_error);
  EXPECT_FALSE(std::filesystem::exists(folder / "b.json.tmp"));
}

TEST(ConsoleReport, SaysWhatCameOutAndWhatIsNotKnown) {
  const auto text = console_report(result());
  EXPECT_THAT(text, HasSubstr("800 planned = 800 sent + 0 shed + 0 never sent"));
  EXPECT_THAT(text, HasSubstr("timeouts 200"));
  EXPECT_THAT(text, HasSubstr(">=60"));
  EXPECT_THAT(text, HasSubstr("generator: ok"));
}

}  // namespace
}  // namespace heddle::report
