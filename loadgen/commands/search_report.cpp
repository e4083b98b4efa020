#include "loadgen/commands/search_report.hpp"

#include "loadgen/calibrate/calibration.hpp"
#include "loadgen/calibrate/ceiling_note.hpp"
#include "loadgen/report/slo.hpp"
#include "loadgen/report/text.hpp"

#include <fmt/format.h>

namespace heddle::load {
namespace {

namespace json = boost::json;

json::value text_or_null(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(json::string{text});
}

json::value number_or_null(const std::optional<double>& number) {
  return number ? json::value(*number) : json::value(nullptr);
}

std::string first_unmet(const std::vector<record::SloResult>& results) {
  for (const auto& result : results) {
    if (result.state != record::SloState::met) return fmt::format("{}: {}", result.objective, result.reason);
  }
  return {};
}

// The rates that the repeats of `rate` achieved. A repeat without a verdict is none.
std::vector<double> achieved_at(const std::vector<StepReport>& steps, double rate) {
  std::vector<double> out;
  for (const auto& step : steps) {
    const bool counts = step.step.confirms && step.verdict != StepVerdict::generator;
    if (counts && step.step.rate == rate) out.push_back(step.achieved);
  }
  return out;
}

// Above the share from which on a run would say so, too.
std::string ceiling_text(const std::optional<double>& share) {
  if (!share || *share <= kCeilingShare) return {};
  return fmt::format("; {:.1f} % of this host's calibrated ceiling", 100 * *share);
}

json::object step_json(const StepReport& step, std::size_t number) {
  json::object out;
  out["number"] = number;
  out["kind"] = step.step.confirms ? "confirm" : "search";
  out["repeat"] = step.step.repeat;
  out["rate"] = step.step.rate;
  out["durationMillis"] = static_cast<double>(step.duration) / plan::kMillisecond;
  out["achieved"] = step.achieved;
  out["errorPercent"] = step.error_percent;
  out["p50Millis"] = report::quantile_millis(step.p50);
  out["p99Millis"] = report::quantile_millis(step.p99);
  out["samplesAbove"] = step.samples_above;
  out["generator"] = {{"verdict", record::name_of(step.generator)}, {"reason", step.generator_reason}};
  out["ceilingPercent"] = step.ceiling_share ? json::value(100 * *step.ceiling_share) : json::value(nullptr);
  out["slo"] = report::slo_json(step.slo);
  out["verdict"] = name_of(step.verdict);
  out["reason"] = text_or_null(step.reason);
  return out;
}

json::object result_json(const SearchReport& report, const Options& options) {
  const auto& result = report.result;
  json::object out;
  out["rate"] = number_or_null(result.rate);
  out["low"] = number_or_null(result.low);
  out["high"] = number_or_null(result.high);
  out["repeatsPassed"] = result.repeats_passed;
  out["repeats"] = options.search.repeats;
  out["boundedBy"] =
      result.bounded_by ? json::value(json::string{name_of(*result.bounded_by)}) : json::value(nullptr);
  out["generatorLimit"] = number_or_null(result.generator_limit);
  out["achieved"] = nullptr;
  if (result.rate) {
    const auto rates = spread_of(achieved_at(report.steps, *result.rate));
    out["achieved"] = {{"min", rates.low}, {"median", rates.median}, {"max", rates.high}};
  }
  return out;
}

std::string interval_text(const SearchResult& result) {
  std::string out = "interval     ";
  if (result.low) out += fmt::format("confirmed at {:.6g}/s", *result.low);
  out += result.high ? fmt::format(", the lowest rate that failed is {:.6g}/s\n", *result.high)
                     : std::string{", no rate failed\n"};
  return out;
}

std::string bound_text(const SearchReport& report, const Options& options) {
  const auto& result = report.result;
  if (!result.bounded_by) return {};
  switch (*result.bounded_by) {
    case BoundedBy::slo:
      return "bounded by   the objectives\n";
    case BoundedBy::limit:
      return fmt::format("bounded by   --to {:.6g}: the server may do more\n", options.search.to);
    case BoundedBy::generator:
      return fmt::format("bounded by   the generator at {:.6g}/s: the server may do more\n",
                         result.generator_limit.value_or(0));
  }
  return {};
}

}  // namespace

StepReport report_of(const Step& step, std::int64_t samples_above, bool strict,
                     const record::RunResult& result) {
  StepReport out;
  out.step = step;
  out.samples_above = samples_above;
  out.generator = result.generator.verdict;
  out.generator_reason = result.generator.reason;
  if (result.generator.ceiling) out.ceiling_share = result.generator.ceiling->share;
  out.slo = result.slo;
  if (const auto window = result.window()) {
    const auto total = window->total();
    const auto& n = total.counts;
    out.duration = window->end_nanos - window->start_nanos;
    if (result.throughput) out.achieved = result.throughput->ok_per_second;
    if (n.sent > 0) {
      out.error_percent = 100 * static_cast<double>(n.errors() + n.in_flight) / static_cast<double>(n.sent);
    }
    out.p50 = quantile(total.latency, 0.5, samples_above);
    out.p99 = quantile(total.latency, 0.99, samples_above);
  }
  const bool met = record::all_met(result.slo);
  // What is met under a late generator is met: its lateness is in the latencies.
  const bool met_late = met && out.generator == record::Verdict::late && !strict;
  if (result.status == record::Status::failed) {
    out.verdict = StepVerdict::missed;
    out.reason = result.reason;
  } else if (out.generator != record::Verdict::ok && !met_late) {
    out.verdict = StepVerdict::generator;
    out.reason = fmt::format("{}: {}", name_of(out.generator), out.generator_reason);
  } else if (!met) {
    out.verdict = StepVerdict::missed;
    out.reason = first_unmet(result.slo);
  }
  return out;
}

json::object search_json(const SearchReport& report, const Options& options) {
  const auto& search = options.search;
  json::object out;
  out["schema"] = 1;
  out["name"] = options.plan.name;
  out["status"] = report.running ? "running" : record::name_of(report.status);
  out["reason"] = text_or_null(report.reason);
  out["seed"] = options.plan.seed;
  out["connections"] = options.plan.connections;
  out["threads"] = options.plan.threads;
  json::array objectives;
  for (const auto& objective : options.slo) objectives.emplace_back(objective.text);
  out["slo"] = std::move(objectives);
  out["settings"] = {{"from", search.from},
                     {"to", search.to},
                     {"precisionPercent", 100 * search.precision},
                     {"stepMillis", search.step_time / plan::kMillisecond},
                     {"warmupMillis", search.warmup / plan::kMillisecond},
                     {"pauseMillis", search.pause / plan::kMillisecond},
                     {"repeats", search.repeats}};
  json::array steps;
  for (const auto& step : report.steps) steps.push_back(step_json(step, steps.size() + 1));
  out["steps"] = std::move(steps);
  out["result"] = result_json(report, options);
  return out;
}

std::string step_heading() {
  return fmt::format("{:>4}  {:<8}{:>10}{:>7}{:>12}{:>11}{:>11}{:>9}\n", "step", "", "rate/s", "s", "ok/s",
                     "p50 ms", "p99 ms", "errors");
}

std::string step_line(const StepReport& step, std::size_t number) {
  return fmt::format("{:>4}  {:<8}{:>10.6g}{:>7.1f}{:>12.1f}{:>11}{:>11}{:>7.2f} %  {}{}{}{}\n", number,
                     step.step.confirms ? "confirm" : "search", step.step.rate,
                     static_cast<double>(step.duration) / plan::kSecond, step.achieved,
                     report::quantile_text(step.p50), report::quantile_text(step.p99), step.error_percent,
                     name_of(step.verdict), step.reason.empty() ? "" : ": ", step.reason,
                     ceiling_text(step.ceiling_share));
}

std::string search_text(const SearchReport& report, const Options& options) {
  const auto& result = report.result;
  std::string out = "\n";
  if (!report.reason.empty()) out += fmt::format("{}: {}\n", record::name_of(report.status), report.reason);
  if (result.rate) {
    const auto rates = spread_of(achieved_at(report.steps, *result.rate));
    out += fmt::format("confirmed    {:.6g} requests per second: {} of {} repeats passed\n", *result.rate,
                       result.repeats_passed, options.search.repeats);
    out += interval_text(result);
    out += fmt::format("achieved     {:.1f} ok/s at least, {:.1f} median, {:.1f} at most\n", rates.low,
                       rates.median, rates.high);
  } else {
    out += "confirmed    no rate\n";
  }
  return out + bound_text(report, options) + fmt::format("seed         {}\n", options.plan.seed);
}

}  // namespace heddle::load
