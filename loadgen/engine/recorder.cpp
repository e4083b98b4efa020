#include "loadgen/engine/recorder.hpp"

namespace heddle::engine {

void Recorder::close(Nanos now) {
  current_->end_nanos = now;
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    const auto stage = i / classes_;
    const auto request_class = i % classes_;
    if (levels_[i] == 0 && current_->find(stage, request_class) == nullptr) continue;
    current_->cell(stage, request_class).counts.in_flight = levels_[i];
  }
}

bool Recorder::swap(Nanos now, bool next_is_measured) {
  close(now);
  auto* next = mailbox_.exchange(current_);
  if (next == nullptr) return false;
  current_ = next;
  current_->start_nanos = now;
  current_->measured = next_is_measured;
  return true;
}

}  // namespace heddle::engine
