// Descriptors and ports are counted before the start, with the host's numbers given.
#include "loadgen/engine/descriptor_budget.hpp"
#include "loadgen/engine/port_budget.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::engine {
namespace {

using plan::DescriptorTables;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <class Call>
std::string refusal(Call call) {
  try {
    (void)call();
  } catch (const NotMeasurable& error) {
    return error.what();
  }
  return {};
}

TEST(ReservedPorts, OnlyThoseInTheRangeCount) {
  EXPECT_EQ(count_reserved("", 32'768, 60'999), 0);
  EXPECT_EQ(count_reserved("8080,40000", 32'768, 60'999), 1);
  EXPECT_EQ(count_reserved("32760-32770,60990-61010,50000", 32'768, 60'999), 3 + 10 + 1);
  EXPECT_EQ(count_reserved("1-65535", 32'768, 60'999), 28'232);
  EXPECT_EQ(count_reserved("what", 32'768, 60'999), 0);
  EXPECT_EQ(count_reserved("40000-", 32'768, 60'999), 0);
}

TEST(PortRange, IsThatOfTheKernelByDefault) {
  EXPECT_EQ(PortRange{}.usable(), 28'232);
  EXPECT_EQ((PortRange{1'024, 65'535, 12}.usable()), 64'500);
  EXPECT_GT(read_port_range().usable(), 0);
}

TEST(SourcesNeeded, UseSeventyPercentOfThePorts) {
  EXPECT_EQ(sources_needed({.target = "", .connections = 10}, 28'232, false), 1);
  EXPECT_EQ(sources_needed({.target = "", .connections = 7'058}, 28'232, false), 1);
  EXPECT_EQ(sources_needed({.target = "", .connections = 7'059}, 28'232, false), 2);
  EXPECT_EQ(sources_needed({.target = "", .connections = 60'000}, 28'232, false), 9);
}

TEST(SourcesNeeded, LeavePortsInTimeWaitAlone) {
  EXPECT_EQ(sources_needed({.target = "", .connections = 10}, 28'232, true), 32);
  // 60 s of 20,000 a second.
  EXPECT_EQ(sources_needed({.target = "", .connections = 100, .new_per_second = 20'000}, 28'232, true), 171);
  EXPECT_EQ(sources_needed({.target = "", .connections = 1, .new_per_second = 1e9}, 28'232, true), 1'024);
}

TEST(Ports, TooFewAreRefusedWithAllNumbers) {
  const TargetLoad load{.target = "[::1]:80", .connections = 60'000, .sources = 2, .per_source = 30'000};
  const auto message = refusal([&] { return check_ports({load}, {32'768, 60'999, 2}); });
  EXPECT_THAT(message, HasSubstr("60000 connections to [::1]:80 from 2 source addresses need 30000 ports"));
  EXPECT_THAT(message,
              HasSubstr("it has 28230 ports (net.ipv4.ip_local_port_range 32768 to 60999, 2 reserved)"));
  EXPECT_THAT(message, HasSubstr("what helps: 3 or more source addresses"));
  EXPECT_THAT(message, HasSubstr("fewer connections"));
}

TEST(Ports, TheLastOneMayBeUsedButIsWarnedOf) {
  const TargetLoad load{.target = "a:80", .connections = 28'232, .per_source = 28'232};
  EXPECT_THAT(check_ports({load}, {}), ElementsAre(HasSubstr("nearly all of its 28232 ports")));
  EXPECT_THAT(check_ports({{.target = "a:80", .connections = 25'000, .per_source = 25'000}}, {}), IsEmpty());
}

TEST(Ports, ConnectsThatOutrunTimeWaitAreWarnedOf) {
  TargetLoad load{.target = "a:80", .connections = 10, .sources = 2, .per_source = 5, .new_per_second = 900};
  EXPECT_THAT(check_ports({load}, {}), IsEmpty());  // 27,000 each
  load.new_per_second = 1'000;
  EXPECT_THAT(check_ports({load}, {}),
              ElementsAre(::testing::AllOf(HasSubstr("up to 1000 new connections a second keep 60000 ports"),
                                           HasSubstr("30000 from 2 source addresses"))));
}

TEST(Backlog, OnlyABurstToAServerHereIsWarnedOf) {
  TargetLoad load{.target = "a:80", .opened_at_once = 5'000, .local = true};
  EXPECT_THAT(check_backlog({load, load}, 4'096),
              ElementsAre(HasSubstr("a:80: 5000 connections at once, net.core.somaxconn is 4096")));
  EXPECT_THAT(check_backlog({load}, 5'000), IsEmpty());
  EXPECT_THAT(check_backlog({load}, 0), IsEmpty());  // not known
  load.target = "unix:/run/x";
  EXPECT_THAT(check_backlog({load}, 4'096), ElementsAre(HasSubstr("EAGAIN")));
  load.local = false;
  EXPECT_THAT(check_backlog({load}, 4'096), IsEmpty());
}

TEST(Descriptors, OneTableWhenItIsLargeEnough) {
  // 100 connections, 3 of each thread, 10 others.
  const DescriptorNeed need{.connections = 100, .threads = 2, .others = 10};
  const auto decision = decide_descriptors(need, 116);
  EXPECT_FALSE(decision.own_tables);
  EXPECT_EQ(decision.per_table, 116);
}

TEST(Descriptors, ATablePerThreadWhenOneIsTooSmall) {
  const DescriptorNeed need{.connections = 101, .threads = 2, .others = 10};
  const auto decision = decide_descriptors(need, 67);
  EXPECT_TRUE(decision.own_tables);
  EXPECT_EQ(decision.per_table, 51 + 6 + 10);
  EXPECT_THAT(refusal([&] { return decide_descriptors(need, 66); }), HasSubstr("the limit of a table is 66"));
}

TEST(Descriptors, ThePlanMayChoose) {
  DescriptorNeed need{.connections = 100, .threads = 2, .others = 10, .tables = DescriptorTables::per_thread};
  EXPECT_TRUE(decide_descriptors(need, 1'000).own_tables);
  need.tables = DescriptorTables::shared;
  EXPECT_FALSE(decide_descriptors(need, 1'000).own_tables);
  const auto message = refusal([&] { return decide_descriptors(need, 80); });
  EXPECT_THAT(message, HasSubstr("100 connections need 116 descriptors in one table; "));
  EXPECT_THAT(message, HasSubstr("2 threads with descriptorTables auto"));
  EXPECT_THAT(message, HasSubstr("at most 64 connections"));
}

TEST(Descriptors, TheRefusalNamesWhatHelps) {
  const DescriptorNeed need{.connections = 60'000, .threads = 2, .others = 20};
  const auto message = refusal([&] { return decide_descriptors(need, 20'000); });
  EXPECT_THAT(message, HasSubstr("60000 connections need 60026 descriptors in one table, 30026 in each of 2 "
                                 "threads with a table of its own"));
  EXPECT_THAT(message, HasSubstr("the limit of a table is 20000 (ulimit -Hn)"));
  // Three threads need 20,029 each.
  EXPECT_THAT(message, HasSubstr("what helps: 4 threads, a higher limit, at most 39948 connections"));
}

TEST(Descriptors, WhatHelpsIsOnlyWhatWouldDo) {
  const DescriptorNeed need{.connections = 1'000'000, .threads = 1, .others = 20};
  const auto message = refusal([&] { return decide_descriptors(need, 1'024); });
  EXPECT_THAT(message, HasSubstr("what helps: a higher limit, at most 1001 connections"));
}

TEST(Descriptors, OpenOnesAreCounted) {
  const auto before = count_open_descriptors();
  EXPECT_GE(before, 3);
  FILE* file = fopen("/dev/null", "r");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(count_open_descriptors(), before + 1);
  fclose(file);
}

}  // namespace
}  // namespace heddle::engine
