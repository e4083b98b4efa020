#include "loadgen/report/second.hpp"

namespace heddle::report {

record::Cell whole(const record::Second& second, const record::RunInfo& info) {
  record::Cell sum;
  for (std::size_t s = 0; s < info.stages.size(); ++s) {
    for (std::size_t c = 0; c < info.classes.size(); ++c) {
      const auto* cell = second.data->find(s, c);
      if (cell == nullptr) continue;
      sum.merge(*cell);
      sum.counts.in_flight += cell->counts.in_flight;
    }
  }
  return sum;
}

bool too_short_to_show(const record::Second& second) {
  constexpr std::int64_t shortest = 500'000'000;
  return second.end_nanos - second.start_nanos < shortest;
}

}  // namespace heddle::report
