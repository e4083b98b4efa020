// What the load achieved, why it fell short, and whether its two accounts of time agree. Pure.
#pragma once

#include "loadgen/record/result.hpp"

#include <span>

namespace heddle::record {

// A rate is met when this share of it succeeded.
inline constexpr double kRateMet = 0.99;
// So full are the connections when on average this share of them waits for an answer.
inline constexpr double kConnectionsFull = 0.95;
// The two sides of Little's law may differ by so much: each request's time is rounded to 1 us.
inline constexpr double kLawTolerance = 0.01;
inline constexpr double kLawTolerancePerRequest = 1e-6;  // seconds

// How long of `seconds` answers could come. The first ones come only after the time that a quick answer
// takes: the 10th percentile of the latency, by request type and weighted by how many were planned. (The
// median would grow with a backlog and hide it.)
[[nodiscard]] double answer_seconds(std::span<const Cell> classes, double seconds);

// Answers that were ok before the load's end as a share (0 to 1) of those that a server which keeps up would
// have given until then; empty when nothing was planned. Answers that came after the end would hide a
// backlog: of them only counting noise is taken, twice the square root of what was planned.
[[nodiscard]] std::optional<double> served_share(std::span<const Cell> classes, double seconds);

// From the threads' counts and the times recorded in `window` (all stages and request types).
[[nodiscard]] LittlesLaw littles_law(const Generator& generator, const Cell& window);

// Empty when both sides agree, or when values beyond the histogram's range left one of them incomplete; else
// what is wrong, with the numbers: requests were lost or counted twice.
[[nodiscard]] std::string lost_time(const LittlesLaw& law, const Cell& window);

// Uses the verdict and Little's law of `result`. `window` is its measure window, `total` the sum over it.
[[nodiscard]] Throughput throughput(const RunResult& result, const StageResult& window, const Cell& total);

}  // namespace heddle::record
