#include "host-tuning/cpus.hpp"

#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const std::string& text) {
  try {
    (void)parse_cpu_list(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(CpuList, ReadsNumbersAndRanges) {
  EXPECT_THAT(parse_cpu_list("0"), ElementsAre(0));
  EXPECT_THAT(parse_cpu_list("0-3,5"), ElementsAre(0, 1, 2, 3, 5));
  EXPECT_THAT(parse_cpu_list("7-7"), ElementsAre(7));
  EXPECT_THAT(parse_cpu_list("8191"), ElementsAre(8191));
}

TEST(CpuList, SortsAndDropsRepeats) {
  EXPECT_THAT(parse_cpu_list("5,1-3,2,5"), ElementsAre(1, 2, 3, 5));
}

TEST(CpuList, NamesTheTokenItRefuses) {
  EXPECT_THAT(refusal("0,x,2"), HasSubstr("found \"x\""));
  EXPECT_THAT(refusal("0,3-1"), HasSubstr("found \"3-1\", a range that runs backwards"));
  EXPECT_THAT(refusal("1-"), HasSubstr("found \"1-\""));
  EXPECT_THAT(refusal("-1"), HasSubstr("found \"-1\""));
  EXPECT_THAT(refusal("1--2"), HasSubstr("found \"1--2\""));
  EXPECT_THAT(refusal("1-2-3"), HasSubstr("found \"1-2-3\""));
  EXPECT_THAT(refusal("1, 2"), HasSubstr("found \" 2\""));
  EXPECT_THAT(refusal("+1"), HasSubstr("found \"+1\""));
  EXPECT_THAT(refusal("8192"), HasSubstr("highest possible CPU is 8191"));
  EXPECT_THAT(refusal("0-99999999999"), HasSubstr("highest possible CPU is 8191"));
  EXPECT_THAT(refusal(""), HasSubstr("found \"\""));
  EXPECT_THAT(refusal("1,"), HasSubstr("found \"\""));
  EXPECT_THAT(refusal("1,,2"), HasSubstr("accepted are numbers and ranges as in 0-3,5"));
}

TEST(CpuList, FormatsWhatItReads) {
  for (const std::string text : {"0", "0-1", "0-3,5", "1,3,5-7"}) {
    EXPECT_EQ(format_cpu_list(parse_cpu_list(text)), text);
  }
  EXPECT_EQ(format_cpu_list({}), "");
}

TEST(Pinning, ThreadIsWhereItWasPinned) {
  const auto all = available_cpus();
  ASSERT_FALSE(all.empty());
  const std::vector<int> last{all.back()};
  std::vector<int> seen;
  std::thread([&] {
    pin_thread(last);
    seen = available_cpus();
  }).join();
  EXPECT_EQ(seen, last);
  EXPECT_EQ(available_cpus(), all) << "pinning a thread moved another one";
}

TEST(Pinning, ProcessMovesThreadsThatRunAlready) {
  const auto all = available_cpus();
  const std::vector<int> last{all.back()};
  std::vector<int> here;
  std::vector<int> there;
  std::thread([&] {
    pin_process(last);
    there = available_cpus();
  }).join();
  here = available_cpus();
  pin_process(all);
  EXPECT_EQ(there, last);
  EXPECT_EQ(here, last);
  EXPECT_EQ(available_cpus(), all);
}

TEST(Pinning, RefusesWhatDoesNotExist) {
  EXPECT_THROW(pin_thread({}), std::invalid_argument);
  EXPECT_THROW(pin_thread(std::vector<int>{-1}), std::invalid_argument);
  EXPECT_THROW(pin_thread(std::vector<int>{8192}), std::invalid_argument);
  try {
    pin_thread(std::vector<int>{8191});
    FAIL() << "pinned to a CPU that this host hardly has";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot pin to CPUs 8191; available are "));
  }
}

}  // namespace
}  // namespace heddle::host
