#include "loadgen/commands/rate_search.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::load {
namespace {

// Rates are told with four digits: no step is finer than that.
double rounded(double rate) {
  constexpr int digits = 4;
  const double scale = std::pow(10.0, digits - 1 - std::floor(std::log10(rate)));
  return std::round(rate * scale) / scale;
}

}  // namespace

std::string_view name_of(StepVerdict verdict) {
  switch (verdict) {
    case StepVerdict::met:
      return "met";
    case StepVerdict::missed:
      return "missed";
    case StepVerdict::generator:
      return "generator";
  }
  return "generator";
}

std::string_view name_of(BoundedBy bound) {
  switch (bound) {
    case BoundedBy::slo:
      return "slo";
    case BoundedBy::generator:
      return "generator";
    case BoundedBy::limit:
      return "limit";
  }
  return "limit";
}

RateSearch::RateSearch(const SearchSettings& settings) : settings_{settings}, rate_{settings.from} {}

std::optional<Step> RateSearch::next() const {
  if (phase_ == Phase::over) return {};
  if (phase_ == Phase::confirm) return Step{rate_, true, done_ + 1};
  return Step{rate_, false, tries_ + 1};
}

void RateSearch::record(StepVerdict verdict) {
  if (phase_ == Phase::confirm) {
    record_confirmation(verdict);
  } else if (phase_ != Phase::over) {
    record_search(verdict);
  }
}

void RateSearch::record_search(StepVerdict verdict) {
  ++tries_;
  if (verdict == StepVerdict::met) {
    met_.push_back(rate_);
    after_success();
  } else if (generator_twice(verdict)) {
    generator_was_the_limit();
  } else if (verdict == StepVerdict::missed && ++misses_ == 2) {
    result_.high = rate_;
    after_failure();
  }
}

bool RateSearch::generator_twice(StepVerdict verdict) {
  const bool generator = verdict == StepVerdict::generator;
  const bool twice = generator && after_generator_;
  after_generator_ = generator;
  return twice;
}

// What is known of the server then is the highest rate below that was met.
void RateSearch::generator_was_the_limit() {
  result_.generator_limit = std::min(rate_, result_.generator_limit.value_or(rate_));
  bound_ = BoundedBy::generator;
  std::erase_if(met_, [this](double rate) { return rate >= rate_; });
  if (met_.empty()) {
    end(BoundedBy::generator);
  } else {
    confirm(best());
  }
}

double RateSearch::best() const {
  return *std::max_element(met_.begin(), met_.end());
}

void RateSearch::after_success() {
  if (phase_ == Phase::bisect) {
    bisect(rate_, result_.high.value_or(rate_));
  } else if (rate_ >= settings_.to) {
    bound_ = BoundedBy::limit;
    confirm(rate_);
  } else {
    try_rate(Phase::climb, std::min(2 * rate_, settings_.to));
  }
}

void RateSearch::after_failure() {
  if (!met_.empty()) {
    bisect(best(), rate_);
  } else {
    end(BoundedBy::slo);
  }
}

void RateSearch::try_rate(Phase phase, double rate) {
  phase_ = phase;
  rate_ = rate;
  tries_ = 0;
  misses_ = 0;
  after_generator_ = false;
}

void RateSearch::bisect(double passed, double failed) {
  const double middle = rounded(std::sqrt(passed * failed));
  const bool close = failed <= passed * (1 + settings_.precision);
  if (close || middle <= passed || middle >= failed) {
    confirm(passed);
  } else {
    try_rate(Phase::bisect, middle);
  }
}

void RateSearch::confirm(double rate) {
  try_rate(Phase::confirm, rate);
  done_ = 0;
  passed_ = 0;
}

int RateSearch::passes_needed() const {
  constexpr int few = 2;
  return settings_.repeats <= few ? settings_.repeats : settings_.repeats - 1;
}

void RateSearch::record_confirmation(StepVerdict verdict) {
  if (generator_twice(verdict)) return generator_was_the_limit();
  if (verdict == StepVerdict::generator) return;
  ++done_;
  if (verdict == StepVerdict::met) ++passed_;
  if (done_ - passed_ > settings_.repeats - passes_needed()) {
    confirm_lower();
  } else if (done_ == settings_.repeats) {
    result_.rate = rate_;
    result_.repeats_passed = passed_;
    result_.low = rate_;
    end(bound_);
  }
}

void RateSearch::confirm_lower() {
  bound_ = BoundedBy::slo;
  result_.high = std::min(rate_, result_.high.value_or(rate_));
  if (rate_ <= settings_.from) {
    end(BoundedBy::slo);
  } else {
    confirm(std::max(settings_.from, rounded(rate_ / (1 + settings_.precision))));
  }
}

void RateSearch::end(BoundedBy bound) {
  phase_ = Phase::over;
  result_.bounded_by = bound;
}

SearchResult RateSearch::result() const {
  return result_;
}

}  // namespace heddle::load
