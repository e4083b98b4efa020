#include "loadgen/record/interval.hpp"

namespace heddle::record {

std::unique_ptr<Cell> Interval::take() {
  if (spare_.empty()) return std::make_unique<Cell>();
  auto cell = std::move(spare_.back());
  spare_.pop_back();
  return cell;
}

void Interval::clear() {
  for (auto& slot : cells_) {
    if (!slot) continue;
    slot->clear();
    spare_.push_back(std::move(slot));
  }
  lag.clear();
  for (auto& of_stage : stage_lags) of_stage.clear();
  turns.clear();
  measured = false;
  start_nanos = end_nanos = spin_nanos = 0;
}

}  // namespace heddle::record
