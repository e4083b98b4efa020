#include "host-tuning/limits.hpp"

#include <sys/resource.h>

#include <gtest/gtest.h>

namespace heddle::host {
namespace {

// Lowers the soft limit for one test and puts it back.
class DescriptorLimitTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &original_), 0); }
  void TearDown() override { ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &original_), 0); }

  void set_soft(rlim_t soft) {
    const rlimit lower{.rlim_cur = soft, .rlim_max = original_.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &lower), 0);
  }

  rlimit original_{};
};

TEST_F(DescriptorLimitTest, ReadsWhatTheKernelEnforces) {
  set_soft(123);
  EXPECT_EQ(descriptor_limit(), (DescriptorLimit{.soft = 123, .hard = original_.rlim_max}));
}

TEST_F(DescriptorLimitTest, RaisesSoftToHardAndTellsBoth) {
  set_soft(123);
  const RaisedLimit raised = raise_descriptor_limit();
  EXPECT_EQ(raised.before.soft, 123U);
  EXPECT_EQ(raised.after.soft, original_.rlim_max);
  EXPECT_EQ(raised.after.hard, original_.rlim_max) << "the hard limit is not ours to move";
  EXPECT_EQ(descriptor_limit(), raised.after);
}

TEST_F(DescriptorLimitTest, LeavesAFullLimitAlone) {
  set_soft(original_.rlim_max);
  const RaisedLimit raised = raise_descriptor_limit();
  EXPECT_EQ(raised.before, raised.after);
}

}  // namespace
}  // namespace heddle::host
