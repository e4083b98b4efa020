// What to send and when, as read from plan.json or built from the command line. Plain data, no I/O.
#pragma once

#include "loadgen/plan/url.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace heddle::plan {

using Nanos = std::int64_t;

inline constexpr Nanos kMicrosecond = 1'000;
inline constexpr Nanos kMillisecond = 1'000'000;
inline constexpr Nanos kSecond = 1'000'000'000;

// Defaults of both the plan file and the command line.
inline constexpr std::int64_t kDefaultRequestTimeoutMillis = 60'000;
inline constexpr std::int64_t kDefaultConnectTimeoutMillis = 20'000;
inline constexpr std::int64_t kDefaultGraceMillis = 2'000;
// A warm-up's backlog may drain for this long before the measure window starts anyway.
inline constexpr Nanos kDrainLimit = 2 * kSecond;

// Accepted ranges: far above what one host can do, low enough that no product overflows 64 bits.
inline constexpr std::int64_t kMaxConnections = 1'000'000;
inline constexpr std::int64_t kMaxThreads = 256;
inline constexpr double kMinRate = 1e-6;
inline constexpr double kMaxRate = 10'000'000;
inline constexpr std::int64_t kMaxSpinMicros = 1'000'000;
// Each has its own histograms in every thread and second, and a mix is walked once per request name.
inline constexpr std::size_t kMaxRequestNames = 1'000;
inline constexpr std::int64_t kMaxDurationMillis = 7LL * 24 * 3600 * 1000;

struct ConstantRate {
  double per_second = 0;
};
struct Poisson {
  double per_second = 0;
};
struct RateRamp {
  double from = 0;
  double to = 0;
};
struct Users {
  std::int64_t count = 0;
};
struct UsersRamp {
  std::int64_t from = 0;
  std::int64_t to = 0;
};
using Arrivals = std::variant<ConstantRate, Poisson, RateRamp, Users, UsersRamp>;

enum class StageKind : std::uint8_t { warmup, measure };

struct Stage {
  std::string name;
  StageKind kind = StageKind::measure;
  Nanos duration = 0;
  Arrivals arrivals;
};

enum class ThinkKind : std::uint8_t { none, constant, uniform, exponential };

// constant and exponential use `low` (the exponential's mean); uniform draws from [low, high).
struct Think {
  ThinkKind kind = ThinkKind::none;
  Nanos low = 0;
  Nanos high = 0;
};

enum class Mix : std::uint8_t { per_user, per_request };
enum class WhenBusy : std::uint8_t { queue, shed };

// Does each engine thread get a descriptor table of its own (unshare(2), CLONE_FILES), with a limit of its
// own? automatic: when the process's limit is too low for all connections.
enum class DescriptorTables : std::uint8_t { automatic, shared, per_thread };

struct RequestSpec {
  std::string name;
  std::int64_t weight = 1;
  std::string method = "GET";
  std::string path = "/";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body_file;  // empty = no body; already resolved against the plan's folder
  int expect_status = 200;
  std::optional<std::int64_t> expect_body_bytes;
};

struct Plan {
  std::string name;
  std::uint64_t seed = 1;
  std::vector<Url> targets;
  std::int64_t connections = 1;
  std::int64_t threads = 1;
  std::vector<int> cpus;             // empty = not pinned
  bool auto_sources = true;          // bind sources only when a target is in 127/8
  std::vector<std::string> sources;  // an explicit list, else empty
  bool keep_alive = true;
  std::optional<std::int64_t> requests_per_connection;
  Nanos request_timeout = kDefaultRequestTimeoutMillis * kMillisecond;  // 0 = none
  Nanos connect_timeout = kDefaultConnectTimeoutMillis * kMillisecond;  // 0 = none
  Nanos grace = kDefaultGraceMillis * kMillisecond;
  std::optional<double> connect_ramp;  // connections per second; empty = burst
  std::string congestion_control;      // empty = the host's default
  DescriptorTables descriptor_tables = DescriptorTables::automatic;
  // How long before a due time a thread polls instead of sleeping; empty = as long as its wake-ups are late.
  std::optional<Nanos> spin;
  Mix mix = Mix::per_request;
  Think think;
  std::vector<Stage> stages;
  WhenBusy when_busy = WhenBusy::queue;
  std::vector<RequestSpec> requests;
  std::vector<std::string> slo;  // objectives as text, "p99=150ms"; who judges them reads them
};

// True when the stages are users (closed loop with think time), false when they are rates (open loop). A
// plan holds one or the other.
[[nodiscard]] bool is_users(const Stage& stage);
[[nodiscard]] bool is_users(const Plan& plan);

// The most users that any stage has at once; 0 for rates.
[[nodiscard]] std::int64_t peak_users(const Plan& plan);

// The most requests per second of a stage of rates; 0 for users.
[[nodiscard]] double highest_rate(const Stage& stage);

// Connections that a plan really uses: with users one for each of the most at once.
[[nodiscard]] std::int64_t connections_of(const Plan& plan);

// No thread is without a connection.
[[nodiscard]] std::int64_t threads_for(std::int64_t connections, std::int64_t threads);

// Users at the start and at the end of a users stage.
[[nodiscard]] std::pair<std::int64_t, std::int64_t> user_range(const Stage& stage);

}  // namespace heddle::plan
