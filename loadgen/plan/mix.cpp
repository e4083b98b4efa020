#include "loadgen/plan/mix.hpp"

#include "loadgen/plan/draw.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

namespace heddle::plan {
namespace {

// Streams of the counter-based generator: one per purpose and user or stage.
constexpr std::uint64_t kArrivalMixStream = 1ULL << 56;
constexpr std::uint64_t kUserMixStream = 2ULL << 56;
constexpr std::uint64_t kThinkStream = 3ULL << 56;

std::vector<std::int64_t> weights_of(std::span<const RequestSpec> requests) {
  std::vector<std::int64_t> weights;
  for (const auto& request : requests) weights.push_back(request.weight);
  return weights;
}

}  // namespace

std::vector<std::uint16_t> interleave(std::span<const std::int64_t> weights) {
  std::int64_t divisor = 0;
  for (const auto weight : weights) {
    if (weight <= 0) throw std::invalid_argument(fmt::format("a weight is positive, found {}", weight));
    divisor = std::gcd(divisor, weight);
  }
  if (weights.empty()) throw std::invalid_argument("no request to choose from");
  std::int64_t total = 0;
  for (const auto weight : weights) total += weight / divisor;
  if (total > kMaxPattern) {
    throw std::invalid_argument(fmt::format("the weights add up to {}, accepted: {}", total, kMaxPattern));
  }
  // Smooth weighted round robin: every type gains its weight, the richest is taken and pays the total.
  std::vector<std::int64_t> credit(weights.size(), 0);
  std::vector<std::uint16_t> pattern;
  pattern.reserve(static_cast<std::size_t>(total));
  for (std::int64_t n = 0; n < total; ++n) {
    for (std::size_t i = 0; i < weights.size(); ++i) credit[i] += weights[i] / divisor;
    const auto richest = std::max_element(credit.begin(), credit.end());
    *richest -= total;
    pattern.push_back(static_cast<std::uint16_t>(richest - credit.begin()));
  }
  return pattern;
}

RequestMix::RequestMix(Mix mix, std::span<const RequestSpec> requests, std::uint64_t seed)
    : mix_{mix}, seed_{seed}, pattern_{interleave(weights_of(requests))} {}

std::uint16_t RequestMix::of_arrival(std::uint64_t stage, std::uint64_t index) const {
  if (pattern_.size() == 1) return pattern_.front();
  if (mix_ == Mix::per_user) return pattern_[index % pattern_.size()];
  return pattern_[draw(seed_, kArrivalMixStream + stage, index) % pattern_.size()];
}

std::uint16_t RequestMix::of_user(std::uint64_t user, std::uint64_t number) const {
  if (mix_ == Mix::per_user) return pattern_[user % pattern_.size()];
  return pattern_[draw(seed_, kUserMixStream + user, number) % pattern_.size()];
}

Nanos think_time(const Think& think, std::uint64_t seed, std::uint64_t user, std::uint64_t number) {
  const auto bits = draw(seed, kThinkStream + user, number);
  switch (think.kind) {
    case ThinkKind::none:
      return 0;
    case ThinkKind::constant:
      return think.low;
    case ThinkKind::uniform:
      return think.low + static_cast<Nanos>(unit(bits) * static_cast<double>(think.high - think.low));
    case ThinkKind::exponential:
      return static_cast<Nanos>(exponential(bits) * static_cast<double>(think.low));
  }
  return 0;
}

}  // namespace heddle::plan
