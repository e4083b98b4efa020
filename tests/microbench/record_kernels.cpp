#include "loadgen/plan/draw.hpp"
#include "loadgen/record/histogram.hpp"
#include "loadgen/report/hlog.hpp"
#include "tests/microbench/kernels.hpp"

#include <array>
#include <cmath>

namespace heddle::microbench {
namespace {

// Latencies as they are met: log-normal around 1 ms, most of them from 0.2 to 5 ms.
std::int64_t latency_nanos(std::uint64_t index) {
  constexpr double kMedianNanos = 1e6;
  constexpr double kSigma = 0.8;
  double sum = 0;  // of 12 uniform numbers: nearly normal, with variance 1
  for (std::uint64_t i = 0; i < 12; ++i) sum += plan::unit(plan::draw(1, index, i));
  return static_cast<std::int64_t>(kMedianNanos * std::exp(kSigma * (sum - 6)));
}

// What one engine thread sees of one request type in a second at 20,000/s.
record::Histogram one_second() {
  record::Histogram histogram;
  for (std::uint64_t i = 0; i < 20'000; ++i) histogram.record_nanos(latency_nanos(i));
  return histogram;
}

class Record final : public Kernel {
 public:
  Record() {
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = latency_nanos(i);
  }
  void run(std::int64_t times) override {
    for (std::int64_t i = 0; i < times; ++i) {
      histogram_.record_nanos(values_[static_cast<std::size_t>(i) % values_.size()]);
    }
    use(histogram_);
  }

 private:
  std::array<std::int64_t, 4096> values_{};
  record::Histogram histogram_;
};

class Merge final : public Kernel {
 public:
  void run(std::int64_t times) override {
    for (std::int64_t i = 0; i < times; ++i) {
      total_.merge(second_);
      use(total_);
    }
  }

 private:
  record::Histogram second_ = one_second();
  record::Histogram total_ = one_second();
};

class Encode final : public Kernel {
 public:
  void run(std::int64_t times) override {
    for (std::int64_t i = 0; i < times; ++i) use(report::encode_compressed(second_));
  }

 private:
  record::Histogram second_ = one_second();
};

}  // namespace

std::unique_ptr<Kernel> histogram_record() {
  return std::make_unique<Record>();
}
std::unique_ptr<Kernel> histogram_merge() {
  return std::make_unique<Merge>();
}
std::unique_ptr<Kernel> hlog_encode() {
  return std::make_unique<Encode>();
}

}  // namespace heddle::microbench
