// What the words of a command line mean.
#include "loadgen/options.hpp"

#include "loadgen/cli/values.hpp"

#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle {
namespace {

using load::UsageError;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kUrl = "http://127.0.0.1:8080/m?a=1";

load::Options parsed(std::vector<const char*> words) {
  words.insert(words.begin(), "heddle-load");
  return load::parse_options(static_cast<int>(words.size()), words.data());
}

std::string refusal(std::vector<const char*> words) {
  try {
    (void)parsed(std::move(words));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

template <class T>
const T& arrivals(const load::Options& options, std::size_t stage) {
  return std::get<T>(options.plan.stages.at(stage).arrivals);
}

TEST(Options, DefaultIsAClosedLoop) {
  const auto options = parsed({kUrl});
  ASSERT_EQ(options.plan.stages.size(), 1U);
  EXPECT_EQ(arrivals<plan::Users>(options, 0).count, 10);
  EXPECT_EQ(options.plan.stages[0].duration, 10 * plan::kSecond);
  EXPECT_EQ(options.plan.connections, 10);
  EXPECT_EQ(options.plan.threads, 1);
  EXPECT_EQ(options.plan.request_timeout, 60 * plan::kSecond);
  EXPECT_EQ(options.plan.connect_timeout, 20 * plan::kSecond);
  EXPECT_EQ(options.plan.grace, 2 * plan::kSecond);
  EXPECT_EQ(options.plan.requests.at(0).path, "/m?a=1");
  EXPECT_EQ(options.plan.requests.at(0).method, "GET");
  EXPECT_FALSE(options.plan.spin);
  EXPECT_TRUE(options.plan.auto_sources);
  EXPECT_EQ(options.plan.seed, 1U);
}

TEST(Options, EveryWayToWriteAnOption) {
  for (const auto& words : std::vector<std::vector<const char*>>{{"-r", "500", kUrl},
                                                                 {"-r500", kUrl},
                                                                 {"--rate", "500", kUrl},
                                                                 {kUrl, "--rate=500"},
                                                                 {"--rate=500", "--", kUrl}}) {
    EXPECT_DOUBLE_EQ(arrivals<plan::ConstantRate>(parsed(words), 0).per_second, 500);
  }
}

TEST(Options, RatesMayBeFractionsRampsAndStages) {
  EXPECT_DOUBLE_EQ(arrivals<plan::ConstantRate>(parsed({"-r", "0.5", kUrl}), 0).per_second, 0.5);
  const auto ramp = arrivals<plan::RateRamp>(parsed({"-r", "0.5..200", kUrl}), 0);
  EXPECT_DOUBLE_EQ(ramp.from, 0.5);
  EXPECT_DOUBLE_EQ(ramp.to, 200);
  const auto staged = parsed({"--stage", "10s:500", "--stage", "500ms:500..0", "-w", "1s", kUrl});
  ASSERT_EQ(staged.plan.stages.size(), 3U);
  EXPECT_EQ(staged.plan.stages[0].kind, plan::StageKind::warmup);
  EXPECT_DOUBLE_EQ(arrivals<plan::ConstantRate>(staged, 0).per_second, 500);
  EXPECT_EQ(staged.plan.stages[1].duration, 10 * plan::kSecond);
  EXPECT_EQ(staged.plan.stages[2].duration, 500 * plan::kMillisecond);
  EXPECT_DOUBLE_EQ(arrivals<plan::RateRamp>(staged, 2).to, 0);
  EXPECT_NE(staged.plan.stages[1].name, staged.plan.stages[2].name);
  EXPECT_DOUBLE_EQ(arrivals<plan::Poisson>(parsed({"-r", "7", "--poisson", kUrl}), 0).per_second, 7);
}

TEST(Options, ARampWarmsUpAtItsFirstRate) {
  const auto options = parsed({"-r", "50..100", "-w", "1s", kUrl});
  EXPECT_DOUBLE_EQ(arrivals<plan::ConstantRate>(options, 0).per_second, 50);
  EXPECT_THAT(refusal({"-r", "0..100", "-w", "1s", kUrl}), HasSubstr("--warmup"));
}

TEST(Options, ThinkTimes) {
  const auto constant = load::parse_think("1500ms");
  EXPECT_EQ(constant.kind, plan::ThinkKind::constant);
  EXPECT_EQ(constant.low, 1500 * plan::kMillisecond);
  const auto uniform = load::parse_think("1s..3s");
  EXPECT_EQ(uniform.kind, plan::ThinkKind::uniform);
  EXPECT_EQ(uniform.low, plan::kSecond);
  EXPECT_EQ(uniform.high, 3 * plan::kSecond);
  const auto exponential = load::parse_think("exp:200ms");
  EXPECT_EQ(exponential.kind, plan::ThinkKind::exponential);
  EXPECT_EQ(exponential.low, 200 * plan::kMillisecond);
  EXPECT_EQ(load::parse_think("0").kind, plan::ThinkKind::none);
  for (const char* bad : {"", "3s..1s", "exp:", "..", "exp:x", "-1s"}) {
    EXPECT_THROW((void)load::parse_think(bad), UsageError) << bad;
  }
}

TEST(Options, ConnectionsOfAnyKind) {
  const auto options = parsed({"-c", "20", "--connect-rate", "100", "--requests-per-connection", "3",
                               "--source", "127.0.0.2,127.0.0.3", "--when-busy", "shed", "-r", "5", "--spin",
                               "50us", "--descriptor-tables", "per-thread", "--unix-socket", "/run/x", kUrl});
  const auto& plan = options.plan;
  EXPECT_EQ(plan.connections, 20);
  EXPECT_EQ(plan.connect_ramp, 100.0);
  EXPECT_EQ(plan.requests_per_connection, 3);
  EXPECT_THAT(plan.sources, ElementsAre("127.0.0.2", "127.0.0.3"));
  EXPECT_FALSE(plan.auto_sources);
  EXPECT_EQ(plan.when_busy, plan::WhenBusy::shed);
  EXPECT_EQ(plan.spin, 50 * plan::kMicrosecond);
  EXPECT_EQ(plan.descriptor_tables, plan::DescriptorTables::per_thread);
  EXPECT_EQ(plan.targets.at(0).socket_path, "/run/x");
  EXPECT_EQ(parsed({"--spin", "off", kUrl}).plan.spin, 0);
  EXPECT_FALSE(parsed({"--no-keepalive", kUrl}).plan.keep_alive);
}

TEST(Options, ObjectivesAreCollected) {
  const auto options = parsed({"-r", "5", "--slo", "p99=150ms,errors=0.1%", "--slo", "rate=99%", kUrl});
  ASSERT_EQ(options.slo.size(), 3U);
  EXPECT_EQ(options.slo[2].text, "rate=99%");
  EXPECT_THAT(refusal({"--slo", "p99=1ms", "--slo", "p99=2ms", kUrl}), HasSubstr("found 'p99' twice"));
}

TEST(Options, FindMaxFollowsTheRate) {
  const auto options =
      parsed({"find-max", "--slo", "p99=150ms", "--from", "50", "--to", "5000", "--precision", "2.5",
              "--repeats", "7", "--step-time", "3s", "--pause", "0", kUrl});
  EXPECT_EQ(options.command, load::Command::find_max);
  ASSERT_EQ(options.slo.size(), 2U);
  EXPECT_EQ(options.slo[1].text, "rate=99%");
  EXPECT_DOUBLE_EQ(options.search.from, 50);
  EXPECT_DOUBLE_EQ(options.search.to, 5000);
  EXPECT_DOUBLE_EQ(options.search.precision, 0.025);
  EXPECT_EQ(options.search.repeats, 7);
  EXPECT_EQ(options.search.pause, 0);
  ASSERT_EQ(options.plan.stages.size(), 2U);
  EXPECT_EQ(options.plan.stages[1].duration, 3 * plan::kSecond);
  EXPECT_EQ(parsed({"find-max", "--slo", "ok-rate=10/s", kUrl}).slo.size(), 1U);
}

TEST(Options, ACalibrationTakesNoUrl) {
  const auto options = parsed({"--calibrate", "-t", "2", "--spin", "off", "--quick"});
  EXPECT_EQ(options.command, load::Command::calibrate);
  EXPECT_EQ(options.plan.threads, 2);
  EXPECT_EQ(options.plan.spin, 0);
  EXPECT_TRUE(options.quick);
  EXPECT_THAT(refusal({"--calibrate", kUrl}), HasSubstr("accepted: none"));
  EXPECT_THAT(refusal({"--calibrate", "-r", "5"}), HasSubstr("--rate: not with --calibrate"));
}

TEST(Options, WhatDoesNotGoTogetherIsRefused) {
  const std::vector<std::pair<std::vector<const char*>, const char*>> cases{
      {{"--stage", "1s:5", "-r", "5", kUrl}, "--rate: not together with --stage"},
      {{"--stage", "1s:5", "-d", "5", kUrl}, "--duration: not together with --stage"},
      {{"--stage", "5", kUrl}, "--stage: found '5'"},
      {{"--stage", "0:5", kUrl}, "--stage: found '0:5'"},
      {{"--stage", "1s:0..0", kUrl}, "--stage: found a load without one request"},
      {{"-r", "1..", kUrl}, "--rate: found '1..'"},
      {{"-r", "inf", kUrl}, "--rate: found 'inf'"},
      {{"-r", "0", kUrl}, "--rate: found '0'"},
      {{"-r", "5..9", "--poisson", kUrl}, "--poisson: for constant rates only"},
      {{"-r", "5", "--think", "1s", kUrl}, "--think: not together with a rate"},
      {{"--when-busy", "shed", kUrl}, "--when-busy: needs --rate"},
      {{"-r", "5", "--when-busy", "drop", kUrl}, "--when-busy: found 'drop', accepted: queue, shed"},
      {{"--no-keepalive", "--requests-per-connection", "2", kUrl}, "not together with --no-keepalive"},
      {{"--requests-per-connection", "0", kUrl}, "--requests-per-connection: found '0'"},
      {{"--connect-rate", "0", kUrl}, "--connect-rate: found '0'"},
      {{"--source", "127.0.0.1,", kUrl}, "--source: found '127.0.0.1,'"},
      {{"--spin", "2s", kUrl}, "--spin: found '2s'"},
      {{"--descriptor-tables", "own", kUrl}, "accepted: auto, shared, per-thread"},
      {{"--unix-socket", "", kUrl}, "--unix-socket: found ''"},
      {{"-c", "5", "-c", "6", kUrl}, "--connections: found twice"},
      {{"--json=yes", kUrl}, "--json: found 'yes', accepted: no value"},
      {{kUrl, "--rate"}, "--rate: found nothing"},
      {{"-Z", kUrl}, "-Z: not known"},
      {{"--record-requests", "", kUrl}, "--record-requests: found ''"},
      {{"find-max", "--slo", "p99=1s", "--repeats", "0", kUrl}, "--repeats: found '0'"},
      {{"find-max", "--slo", "p99=1s", "--from", "9", "--to", "8", kUrl}, "--to: found '8'"},
      {{"find-max", "--slo", "p99=1s", "--precision", "0", kUrl}, "--precision: found '0'"},
      {{"find-max", "--slo", "p99=1s"}, "no URL"}};
  for (const auto& [words, expected] : cases) EXPECT_THAT(refusal(words), HasSubstr(expected));
}

TEST(Options, DurationsTakeTheirUnit) {
  EXPECT_EQ(load::parse_duration("10", "x"), 10 * plan::kSecond);
  EXPECT_EQ(load::parse_duration("1.5s", "x"), 1500 * plan::kMillisecond);
  EXPECT_EQ(load::parse_duration("250ms", "x"), 250 * plan::kMillisecond);
  EXPECT_EQ(load::parse_duration("50us", "x"), 50 * plan::kMicrosecond);
  EXPECT_EQ(load::parse_duration("2m", "x"), 120 * plan::kSecond);
  for (const char* bad : {"", "s", "-1s", "5 s", "5d", "1e300h", "nan"}) {
    EXPECT_THROW((void)load::parse_duration(bad, "x"), UsageError) << bad;
  }
}

TEST(Table, NamesAndLettersAreUnique) {
  std::set<std::string_view> names;
  std::set<char> letters;
  for (const auto& option : load::option_table()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    if (option.letter != 0) {
      EXPECT_TRUE(letters.insert(option.letter).second) << option.name;
    }
    EXPECT_NE(option.users, 0) << option.name;
    EXPECT_EQ(load::find_option(option.name), &option);
  }
}

TEST(Help, ListsEveryOptionWithin100Columns) {
  for (const auto command : {load::Command::run, load::Command::find_max, load::Command::calibrate}) {
    const auto help = load::help_text(command);
    for (const auto& option : load::option_table()) {
      if (!load::takes(option, command)) continue;
      EXPECT_THAT(help, HasSubstr("--" + std::string{option.name}));
    }
    std::istringstream lines{help};
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 100U) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
  }
}

}  // namespace
}  // namespace heddle
