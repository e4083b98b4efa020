// Which request type comes next.
#pragma once

#include "loadgen/plan/plan.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace heddle::plan {

// The weights as a cyclic pattern, evenly interleaved: any prefix of n entries holds each type within one of
// n x weight / total, and a whole cycle holds it exactly. Weights are positive; their sum, after division by
// the common divisor, is at most kMaxPattern (std::invalid_argument otherwise).
inline constexpr std::int64_t kMaxPattern = 100'000;
[[nodiscard]] std::vector<std::uint16_t> interleave(std::span<const std::int64_t> weights);

class RequestMix {
 public:
  RequestMix(Mix mix, std::span<const RequestSpec> requests, std::uint64_t seed);

  // Type of request `index` of stage `stage` in a rate: apportioned exactly for per_user, drawn for
  // per_request.
  [[nodiscard]] std::uint16_t of_arrival(std::uint64_t stage, std::uint64_t index) const;

  // Type of a user's `number`-th request: always the same for per_user (users 0..n-1 share the types out
  // exactly), drawn for per_request.
  [[nodiscard]] std::uint16_t of_user(std::uint64_t user, std::uint64_t number) const;

 private:
  Mix mix_;
  std::uint64_t seed_;
  std::vector<std::uint16_t> pattern_;
};

// How long user `user` thinks after its `number`-th answer.
[[nodiscard]] Nanos think_time(const Think& think, std::uint64_t seed, std::uint64_t user,
                               std::uint64_t number);

}  // namespace heddle::plan
