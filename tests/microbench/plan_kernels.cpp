#include "loadgen/plan/mix.hpp"
#include "loadgen/plan/schedule.hpp"
#include "tests/microbench/kernels.hpp"

#include <utility>

namespace heddle::microbench {
namespace {

// A week at these rates holds over 10^10 requests: no run gets to its end.
constexpr plan::Nanos kWeek = plan::kMaxDurationMillis * plan::kMillisecond;

class DueTime final : public Kernel {
 public:
  explicit DueTime(const plan::Arrivals& arrivals)
      : stages_{{"measure", plan::StageKind::measure, kWeek, arrivals}}, cursor_{stages_, 0, 1, 0, 1} {}
  void run(std::int64_t times) override {
    for (std::int64_t i = 0; i < times; ++i) {
      cursor_.advance();
      use(cursor_.peek());
    }
  }

 private:
  std::vector<plan::Stage> stages_;
  plan::ArrivalCursor cursor_;
};

class MixDraw final : public Kernel {
 public:
  void run(std::int64_t times) override {
    for (std::int64_t i = 0; i < times; ++i) use(mix_.of_arrival(1, index_++));
  }

 private:
  static std::vector<plan::RequestSpec> requests() {
    std::vector<plan::RequestSpec> all;
    for (const std::int64_t weight : {5, 3, 2}) {
      plan::RequestSpec request;
      request.weight = weight;
      all.push_back(std::move(request));
    }
    return all;
  }

  plan::RequestMix mix_{plan::Mix::per_request, requests(), 1};
  std::uint64_t index_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> due_time_constant() {
  return std::make_unique<DueTime>(plan::ConstantRate{20'000});
}
std::unique_ptr<Kernel> due_time_ramp() {
  return std::make_unique<DueTime>(plan::RateRamp{10'000, 30'000});
}
std::unique_ptr<Kernel> due_time_poisson() {
  return std::make_unique<DueTime>(plan::Poisson{20'000});
}
std::unique_ptr<Kernel> mix_draw() {
  return std::make_unique<MixDraw>();
}

}  // namespace heddle::microbench
