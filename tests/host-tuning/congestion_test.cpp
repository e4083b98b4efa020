#include "host-tuning/congestion.hpp"

#include <algorithm>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::host {
namespace {

using testing::Contains;
using testing::HasSubstr;

class CongestionTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_GE(socket_, 0); }
  void TearDown() override { close(socket_); }

  int socket_ = socket(AF_INET, SOCK_STREAM, 0);
};

TEST_F(CongestionTest, TheDefaultComesFirst) {
  EXPECT_EQ(available_congestion_controls().front(), congestion_control(socket_));
}

// reno is built into every kernel and allowed for every user.
TEST_F(CongestionTest, TheDefaultMayBeUsedAndAnUnknownOneNot) {
  EXPECT_TRUE(may_use_congestion_control(available_congestion_controls().front()));
  EXPECT_FALSE(may_use_congestion_control("warp"));
}

TEST_F(CongestionTest, SetsAndReadsBack) {
  ASSERT_THAT(available_congestion_controls(), Contains("reno"));
  set_congestion_control(socket_, "reno");
  EXPECT_EQ(congestion_control(socket_), "reno");
}

TEST_F(CongestionTest, NamesWhatItRefusesAndWhatThereIs) {
  try {
    set_congestion_control(socket_, "nonsense");
    FAIL() << "accepted an algorithm that does not exist";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("\"nonsense\""));
    EXPECT_THAT(error.what(), HasSubstr("reno"));
  }
}

TEST_F(CongestionTest, ABadDescriptorIsAnError) {
  EXPECT_THROW(set_congestion_control(-1, "reno"), std::system_error);
  EXPECT_THROW((void)congestion_control(-1), std::system_error);
}

}  // namespace
}  // namespace heddle::host
