// Short runs of the whole engine, for tests.
#pragma once

#include "loadgen/engine/run.hpp"
#include "tests/loadgen/fake_server.hpp"

#include <string>
#include <utility>
#include <vector>

namespace heddle::testing {

// Runs are short, but long enough for a machine that is busy with other tests.
inline constexpr plan::Nanos kShort = 500 * plan::kMillisecond;

// Remembers what a run tells.
class Listener : public record::RunListener {
 public:
  void started(const record::RunInfo&) override {}
  void connected(const record::ConnectionStats&, std::int64_t) override {}
  void stage_started(std::size_t stage, std::int64_t at) override { starts.emplace_back(stage, at); }
  void stage_ended(std::size_t stage, std::int64_t at) override { ends.emplace_back(stage, at); }
  void second(const record::Second& second) override { seconds += second.data != nullptr ? 1 : 0; }
  void done(const record::RunResult&) override {}
  std::vector<std::pair<std::size_t, std::int64_t>> starts;
  std::vector<std::pair<std::size_t, std::int64_t>> ends;
  int seconds = 0;
};

// One measure stage, one request type "get", a grace of 300 ms.
[[nodiscard]] plan::Plan plan_for(const std::string& url, plan::Arrivals arrivals, plan::Nanos duration,
                                  std::int64_t connections);

// Expects the balance of every stage to hold, and a status that is failed only when nothing succeeded:
// servers in tests may cause that on purpose. `bodies`: one for each request type, or none.
[[nodiscard]] record::RunResult run(const plan::Plan& plan, std::vector<std::string> bodies = {});
// The same without any expectation.
[[nodiscard]] record::RunResult run_as_it_is(const plan::Plan& plan, record::RunListener& listener);

[[nodiscard]] record::Counts counts_of(const record::RunResult& result);
[[nodiscard]] std::int64_t of(const record::Counts& counts, record::TransportError error);

}  // namespace heddle::testing
