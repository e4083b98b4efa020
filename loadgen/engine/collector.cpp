#include "loadgen/engine/collector.hpp"

#include <algorithm>
#include <utility>

namespace heddle::engine {
namespace {

// A thread that is this late with its second is counted in the next one.
constexpr Nanos kPatience = 300 * plan::kMillisecond;

}  // namespace

Collector::Collector(const Setup& setup, std::vector<Recorder*> recorders, record::RunListener& listener)
    : setup_{setup},
      stages_{setup.plan.stages.size()},
      classes_{setup.plan.requests.size()},
      recorders_{std::move(recorders)},
      listener_{listener},
      merged_{stages_, classes_},
      delivered_(recorders_.size(), false),
      totals_(stages_ * classes_),
      threads_(recorders_.size()),
      stage_lags_(stages_) {}

void Collector::poll(Nanos now, std::size_t stage) {
  for (std::size_t i = 0; i < recorders_.size(); ++i) {
    if (delivered_[i]) continue;
    auto& mailbox = recorders_[i]->mailbox();
    auto* part = mailbox.take();
    if (part == nullptr) continue;
    if (parts_ == 0) first_part_at_ = now;
    add(*part, i);
    add_levels(*part);
    mailbox.give_back(part);
    delivered_[i] = true;
    ++parts_;
  }
  if (parts_ == recorders_.size() || (parts_ > 0 && now - first_part_at_ > kPatience)) emit(stage);
}

void Collector::finish(Nanos now, std::size_t stage) {
  poll(now, stage);
  if (parts_ > 0) emit(stage);
  for (std::size_t i = 0; i < recorders_.size(); ++i) {
    auto* recorder = recorders_[i];
    // A thread that was a second ahead of another one has left a part behind. It joins the last interval,
    // whose levels are the later ones.
    auto& mailbox = recorder->mailbox();
    while (auto* part = mailbox.take()) {
      add(*part, i);
      mailbox.give_back(part);
      ++parts_;
    }
    const auto& last = recorder->last();
    add(last, i);
    add_levels(last);
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

void Collector::add(const record::Interval& part, std::size_t thread) {
  merged_.start_nanos = parts_ == 0 ? part.start_nanos : std::min(merged_.start_nanos, part.start_nanos);
  merged_.end_nanos = std::max(merged_.end_nanos, part.end_nanos);
  merged_.lag.merge(part.lag);
  merged_.spin_nanos += part.spin_nanos;
  if (part.measured) {
    lag_.merge(part.lag);
    turns_.merge(part.turns);
    threads_[thread].lag.merge(part.lag);
  }
  for (std::size_t s = 0; s < stages_; ++s) {
    stage_lags_[s].merge(part.stage_lags[s]);
    const bool measured = setup_.plan.stages[s].kind == plan::StageKind::measure;
    for (std::size_t c = 0; c < classes_; ++c) {
      const auto* cell = part.find(s, c);
      if (cell == nullptr) continue;
      totals_[s * classes_ + c].merge(*cell);
      if (measured) threads_[thread].sent += cell->counts.sent;
      merged_.cell(s, c).merge(*cell);
    }
  }
}

void Collector::add_levels(const record::Interval& part) {
  for (std::size_t s = 0; s < stages_; ++s) {
    for (std::size_t c = 0; c < classes_; ++c) {
      if (const auto* cell = part.find(s, c)) merged_.cell(s, c).counts.in_flight += cell->counts.in_flight;
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
