// No count is lost between the threads' recorders and the totals, whatever the threads' pace.
#include "loadgen/engine/collector.hpp"

#include <gtest/gtest.h>

namespace heddle::engine {
namespace {

constexpr Nanos kSecond = plan::kSecond;

struct Row {
  Nanos start = 0;
  Nanos end = 0;
  std::int64_t sent = 0;
  std::int64_t in_flight = 0;
  bool operator==(const Row&) const = default;
};

class Rows final : public record::RunListener {
 public:
  void started(const record::RunInfo&) override {}
  void connected(const record::ConnectionStats&, std::int64_t) override {}
  void stage_started(std::size_t, std::int64_t) override {}
  void stage_ended(std::size_t, std::int64_t) override {}
  void done(const record::RunResult&) override {}
  void second(const record::Second& second) override {
    Row row{second.start_nanos, second.end_nanos, 0, 0};
    if (const auto* cell = second.data->find(0, 0)) {
      row.sent = cell->counts.sent;
      row.in_flight = cell->counts.in_flight;
    }
    rows.push_back(row);
  }
  std::vector<Row> rows;
};

Setup setup_of_one_request() {
  plan::Plan plan;
  plan.targets = {plan::parse_url("http://127.0.0.1:1")};
  plan.stages = {{"measure", plan::StageKind::measure, 10 * kSecond, plan::ConstantRate{10}}};
  plan.requests.resize(1);
  return make_setup(plan, {""});
}

class CollectorTest : public ::testing::Test {
 protected:
  CollectorTest() {
    ahead.begin(0);
    behind.begin(0);
  }
  static void send(Recorder& recorder, std::int64_t count) {
    auto& counts = recorder.cell(0, 0).counts;
    counts.planned += count;
    counts.sent += count;
    recorder.add_in_flight(0, 0, count);
  }

  engine::Setup setup = setup_of_one_request();
  Recorder ahead{1, 1};
  Recorder behind{1, 1};
  Rows rows;
  Collector collector{setup, {&ahead, &behind}, rows};
};

TEST_F(CollectorTest, ASecondIsToldWhenEachThreadHasHandedItOver) {
  send(ahead, 1);
  send(behind, 10);
  ASSERT_TRUE(ahead.swap(kSecond, true));
  collector.poll(kSecond, 0);
  EXPECT_TRUE(rows.rows.empty());
  ASSERT_TRUE(behind.swap(kSecond, true));
  collector.poll(kSecond + 1, 0);
  ASSERT_EQ(rows.rows.size(), 1U);
  EXPECT_EQ(rows.rows[0], (Row{0, kSecond, 11, 11}));
}

TEST_F(CollectorTest, TheEndTakesTheSecondPartOfAThreadThatWasAhead) {
  send(ahead, 1);
  ASSERT_TRUE(ahead.swap(kSecond, true));
  collector.poll(kSecond, 0);
  send(ahead, 2);
  ASSERT_TRUE(ahead.swap(2 * kSecond, true));
  send(behind, 10);
  ASSERT_TRUE(behind.swap(kSecond, true));
  send(ahead, 4);
  send(behind, 20);
  ahead.close(2 * kSecond + 5);
  behind.close(2 * kSecond + 5);
  collector.finish(2 * kSecond + 9, 0);

  const auto& total = collector.total(0, 0).counts;
  EXPECT_EQ(total.sent, 37);
  EXPECT_EQ(total.in_flight, 37);
  EXPECT_EQ(record::imbalance(total), "");
  ASSERT_EQ(rows.rows.size(), 2U);
  EXPECT_EQ(rows.rows[0], (Row{0, kSecond, 11, 11}));
  // The part that was left behind, and the last intervals; the level is that at the end, once.
  EXPECT_EQ(rows.rows[1], (Row{kSecond, 2 * kSecond + 5, 26, 37}));
}

}  // namespace
}  // namespace heddle::engine
