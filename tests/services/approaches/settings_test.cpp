#include "services/approaches/settings.hpp"

#include "services/approaches/table.hpp"

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace heddle::approaches {
namespace {

TEST(DescriptorBudget, LeavesRoomForTenThousandClientsAndTheirSelfCallsWithin20000) {
  const DescriptorBudget budget = share_descriptors(20'000, 0, 0);
  EXPECT_EQ(budget.client, (20'000 - kReservedDescriptors) / 4);
  EXPECT_EQ(budget.accepted + budget.client + kReservedDescriptors, 20'000U);
  EXPECT_GE(budget.accepted, 10'000 + 4'900U);
}

TEST(DescriptorBudget, UsesTheAncestorsPoolWhereTheHostAllows) {
  const DescriptorBudget budget = share_descriptors(1'048'576, 0, 0);
  EXPECT_EQ(budget.client, kMaxClientConnections);
  EXPECT_EQ(budget.accepted, 1'048'576 - kReservedDescriptors - kMaxClientConnections);
}

TEST(DescriptorBudget, TakesWhatIsAskedFor) {
  EXPECT_EQ(share_descriptors(1000, 300, 0).accepted, 300U);
  EXPECT_EQ(share_descriptors(1000, 0, 300).client, 300U);
}

TEST(DescriptorBudget, RefusesMoreThanTheLimitWithBothNumbers) {
  for (const auto& [limit, accepted, client] : {std::tuple{1000, 900, 900}, std::tuple{1000, 0, 2000},
                                                std::tuple{64, 0, 0}, std::tuple{1000, 2000, 0}}) {
    try {
      static_cast<void>(share_descriptors(static_cast<std::size_t>(limit), static_cast<std::size_t>(accepted),
                                          static_cast<std::size_t>(client)));
      FAIL() << limit << " " << accepted << " " << client;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find("the limit is " + std::to_string(limit)), std::string::npos)
          << error.what();
    }
  }
}

TEST(Table, NamesAreUniqueAndFound) {
  for (const Approach& approach : all_approaches()) EXPECT_EQ(&find_approach(approach.name), &approach);
  EXPECT_THROW(static_cast<void>(find_approach("nonsense")), std::invalid_argument);
}

}  // namespace
}  // namespace heddle::approaches
