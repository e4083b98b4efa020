// Which rate find-max tries next. Pure: fed with the outcome of each step, it knows no server and no clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace heddle::load {

// generator: it was the limit, so the step says nothing about the server.
enum class StepVerdict : std::uint8_t { met, missed, generator };
[[nodiscard]] std::string_view name_of(StepVerdict verdict);

enum class BoundedBy : std::uint8_t { slo, generator, limit };
[[nodiscard]] std::string_view name_of(BoundedBy bound);

struct SearchSettings {
  double from = 100;        // the lowest rate
  double to = 1'000'000;    // the highest; from <= to
  double precision = 0.05;  // as a share, more than 0
  int repeats = 5;          // at least 1
};

struct Step {
  double rate = 0;
  bool confirms = false;  // one of the repeats at the end
  int repeat = 1;         // search: which try, from 1; confirmation: 1..repeats
};

struct SearchResult {
  std::optional<double> rate;  // confirmed; empty = none
  // The highest rate that was confirmed, and the lowest that failed; empty = there is none.
  std::optional<double> low;
  std::optional<double> high;
  int repeats_passed = 0;                 // of the confirmed rate
  std::optional<BoundedBy> bounded_by;    // empty while the search goes on
  std::optional<double> generator_limit;  // the rate at which the generator was no longer good enough
};

// Doubles the rate from `from` until a step fails, bisects on a logarithmic scale down to the precision, then
// confirms. A step of the search fails when it and its second try did: one hiccup of the host does not end
// the search. A rate is confirmed when all but one of its repeats passed (all, when there are one or two);
// otherwise the rate one precision step lower is confirmed, down to `from`. A step without a verdict is tried
// again; when that happens twice in a row, the generator is the limit, and the highest rate below that was
// met is confirmed.
class RateSearch {
 public:
  explicit RateSearch(const SearchSettings& settings);

  // Empty when the search is over.
  [[nodiscard]] std::optional<Step> next() const;
  // The outcome of next().
  void record(StepVerdict verdict);
  [[nodiscard]] SearchResult result() const;

 private:
  enum class Phase : std::uint8_t { climb, bisect, confirm, over };

  void record_search(StepVerdict verdict);
  void record_confirmation(StepVerdict verdict);
  [[nodiscard]] bool generator_twice(StepVerdict verdict);
  void generator_was_the_limit();
  [[nodiscard]] double best() const;
  void after_success();
  void after_failure();
  void try_rate(Phase phase, double rate);
  void bisect(double passed, double failed);
  void confirm(double rate);
  void confirm_lower();
  void end(BoundedBy bound);
  [[nodiscard]] int passes_needed() const;

  SearchSettings settings_;
  Phase phase_ = Phase::climb;
  double rate_ = 0;
  int tries_ = 0;                 // at rate_, in the search
  int misses_ = 0;                // of them
  bool after_generator_ = false;  // the step before, at rate_, had no verdict
  std::vector<double> met_;       // rates of the search
  int done_ = 0;                  // repeats at rate_ that had a verdict
  int passed_ = 0;                // of them
  BoundedBy bound_ = BoundedBy::slo;
  SearchResult result_;
};

}  // namespace heddle::load
