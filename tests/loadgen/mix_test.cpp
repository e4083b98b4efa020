#include "loadgen/plan/mix.hpp"

#include <cmath>
#include <stdexcept>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::plan {
namespace {

std::vector<RequestSpec> requests(std::vector<std::int64_t> weights) {
  std::vector<RequestSpec> specs;
  for (const auto weight : weights) {
    specs.emplace_back();
    specs.back().name = fmt::format("r{}", specs.size());
    specs.back().weight = weight;
  }
  return specs;
}

TEST(Interleave, SharesOutExactlyAndEvenly) {
  const std::vector<std::int64_t> weights{3, 1};
  const auto pattern = interleave(weights);
  ASSERT_EQ(pattern.size(), 4U);
  EXPECT_EQ(std::count(pattern.begin(), pattern.end(), 0), 3);
  const std::vector<std::int64_t> scaled{300, 100};
  EXPECT_EQ(interleave(scaled), pattern);
}

TEST(Interleave, EveryPrefixIsWithinOneOfItsShare) {
  const std::vector<std::int64_t> weights{5, 2, 1, 1};
  const auto pattern = interleave(weights);
  std::vector<int> seen(4, 0);
  for (std::size_t n = 0; n < pattern.size(); ++n) {
    ++seen[pattern[n]];
    for (std::size_t type = 0; type < 4; ++type) {
      EXPECT_LE(
          std::abs(seen[type] - static_cast<double>((n + 1) * static_cast<std::size_t>(weights[type])) / 9),
          1.0);
    }
  }
}

TEST(Interleave, RefusesWhatItCannotShareOut) {
  EXPECT_THROW((void)interleave(std::vector<std::int64_t>{}), std::invalid_argument);
  EXPECT_THROW((void)interleave(std::vector<std::int64_t>{1, 0}), std::invalid_argument);
  EXPECT_THROW((void)interleave(std::vector<std::int64_t>{kMaxPattern, 1}), std::invalid_argument);
}

TEST(RequestMix, PerUserKeepsTheTypeAndSplitsTheUsers) {
  const RequestMix mix{Mix::per_user, requests({1, 1, 1, 1}), 9};
  std::vector<int> users(4, 0);
  for (std::uint64_t user = 0; user < 1000; ++user) {
    const auto type = mix.of_user(user, 0);
    ++users[type];
    EXPECT_EQ(mix.of_user(user, 1), type);
    EXPECT_EQ(mix.of_user(user, 77), type);
  }
  EXPECT_THAT(users, ::testing::Each(250));
}

TEST(RequestMix, PerRequestDrawsByWeight) {
  const RequestMix mix{Mix::per_request, requests({3, 1}), 9};
  int second_type = 0;
  constexpr int draws = 100'000;
  for (int i = 0; i < draws; ++i)
    second_type += mix.of_user(static_cast<std::uint64_t>(i % 10), static_cast<std::uint64_t>(i / 10));
  EXPECT_NEAR(second_type, draws / 4, 5 * std::sqrt(draws * 0.25 * 0.75));
}

TEST(RequestMix, OfAnArrivalDependsOnSeedStageAndNumberOnly) {
  const RequestMix mix{Mix::per_request, requests({1, 1}), 9};
  const RequestMix same{Mix::per_request, requests({1, 1}), 9};
  const RequestMix other{Mix::per_request, requests({1, 1}), 10};
  int differences = 0;
  for (std::uint64_t k = 0; k < 1000; ++k) {
    EXPECT_EQ(mix.of_arrival(2, k), same.of_arrival(2, k));
    differences += mix.of_arrival(2, k) != other.of_arrival(2, k) ? 1 : 0;
  }
  EXPECT_GT(differences, 300);
}

TEST(ThinkTime, FollowsItsLaw) {
  EXPECT_EQ(think_time({}, 1, 2, 3), 0);
  EXPECT_EQ(think_time({ThinkKind::constant, kSecond, kSecond}, 1, 2, 3), kSecond);
  double uniform = 0;
  double exponential = 0;
  constexpr int draws = 20'000;
  for (int i = 0; i < draws; ++i) {
    const auto user = static_cast<std::uint64_t>(i);
    const auto one = think_time({ThinkKind::uniform, kSecond, 3 * kSecond}, 5, user, 0);
    EXPECT_GE(one, kSecond);
    EXPECT_LT(one, 3 * kSecond);
    uniform += static_cast<double>(one) / draws;
    exponential +=
        static_cast<double>(think_time({ThinkKind::exponential, kSecond, kSecond}, 5, user, 0)) / draws;
  }
  EXPECT_NEAR(uniform / 1e9, 2.0, 0.03);
  EXPECT_NEAR(exponential / 1e9, 1.0, 0.05);
}

}  // namespace
}  // namespace heddle::plan
