// Was the generator the bottleneck? Heddle's methodology: a client is trusted only while its own lateness is
// small beside what it measures and its threads have time left.
#pragma once

#include "loadgen/record/result.hpp"

namespace heddle::record {

// Above this share of its time spent on work a thread queues its own events: saturated.
// Polling for a due time is no such work.
inline constexpr double kSaturatedBusyShare = 0.80;
// The 99th percentile of the lateness may be this much, or this share of the median service time when that
// is more: late otherwise.
inline constexpr std::int64_t kLateMicros = 200;
inline constexpr double kLateShareOfService = 0.05;
// A thread that was ready but did not get a CPU for more than this share of the time read answers late: the
// server's times are too long then, even if no request was sent late.
inline constexpr double kRunDelayShare = 0.05;
// The lateness is judged from 100 requests on: one of them must lie above the percentile.
inline constexpr std::int64_t kSamplesForLag = 1;

// Fills verdict, reason, useful_busy_share and cpu_seconds from the rest of `generator`.
void judge(Generator& generator, const Distribution& service);

}  // namespace heddle::record
