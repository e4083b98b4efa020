#include "loadgen/engine/collector.hpp"

#include <algorithm>

namespace heddle::engine {
namespace {

// A thread that is this late with its second is counted in the next one.
constexpr Nanos kPatience = 300 * plan::kMillisecond;

}  // namespace

Collector::Collector(const Setup& setup, std::vector<std::unique_ptr<Worker>>& workers,
                     record::RunListener& listener)
    : stages_{setup.plan.stages.size()},
      classes_{setup.plan.requests.size()},
      workers_{workers},
      listener_{listener},
      merged_{stages_, classes_},
      delivered_(workers.size(), false),
      totals_(stages_ * classes_) {}

void Collector::poll(Nanos now, std::size_t stage) {
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (delivered_[i]) continue;
    auto& mailbox = workers_[i]->mailbox();
    auto* part = mailbox.take();
    if (part == nullptr) continue;
    if (parts_ == 0) first_part_at_ = now;
    add(*part);
    mailbox.give_back(part);
    delivered_[i] = true;
    ++parts_;
  }
  if (parts_ == workers_.size() || (parts_ > 0 && now - first_part_at_ > kPatience)) emit(stage);
}

void Collector::finish(Nanos now, std::size_t stage) {
  poll(now, stage);
  if (parts_ > 0) emit(stage);
  for (const auto& worker : workers_) {
    const auto& last = worker->last_interval();
    add(last);
    ++parts_;
    for (std::size_t s = 0; s < stages_; ++s) {
      for (std::size_t c = 0; c < classes_; ++c) {
        if (const auto* cell = last.find(s, c))
          totals_[s * classes_ + c].counts.in_flight += cell->counts.in_flight;
      }
    }
  }
  emit(stage);
}

void Collector::add(const record::Interval& part) {
  merged_.start_nanos = parts_ == 0 ? part.start_nanos : std::min(merged_.start_nanos, part.start_nanos);
  merged_.end_nanos = std::max(merged_.end_nanos, part.end_nanos);
  merged_.lag.merge(part.lag);
  if (part.measured) {
    lag_.merge(part.lag);
    turns_.merge(part.turns);
  }
  for (std::size_t s = 0; s < stages_; ++s) {
    for (std::size_t c = 0; c < classes_; ++c) {
      const auto* cell = part.find(s, c);
      if (cell == nullptr) continue;
      totals_[s * classes_ + c].merge(*cell);
      auto& merged = merged_.cell(s, c);
      merged.merge(*cell);
      merged.counts.in_flight += cell->counts.in_flight;
    }
  }
}

void Collector::emit(std::size_t stage) {
  listener_.second({number_++, stage, merged_.start_nanos, merged_.end_nanos, &merged_});
  merged_.clear();
  std::fill(delivered_.begin(), delivered_.end(), false);
  parts_ = 0;
}

}  // namespace heddle::engine
