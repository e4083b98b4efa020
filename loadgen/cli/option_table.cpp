#include "loadgen/cli/option_table.hpp"

#include <algorithm>
#include <array>

namespace heddle::load {
namespace {

using enum Group;

constexpr std::uint8_t kLoads = kRun | kFindMax;

constexpr auto kTable = std::to_array<OptionSpec>({
    {"rate", 'r', "R | A..B", load, kRun, false, false, "",
     "requests per second over all connections and threads, on a fixed schedule (an open loop); A..B goes "
     "from A to B in a straight line. 0.5 is one every two seconds. Default: none, a closed loop, in which "
     "every connection sends when its last answer is there"},
    {"stage", 0, "TIME:RATE", load, kRun, false, true, "",
     "a stage of its own rate, 10s:500 or 1m:0..2000; repeat it for one after another. Each stage gets its "
     "own block of results. Instead of --rate and --duration"},
    {"poisson", 0, "", load, kLoads, false, false, "",
     "random gaps between the requests (a Poisson process, from --seed) instead of even ones. Constant "
     "rates only"},
    {"think", 0, "TIME", load, kRun, false, false, "",
     "a closed loop of users: each waits this long after an answer before it sends again. TIME, LOW..HIGH "
     "(uniform) or exp:MEAN (exponential). Default: 0, no pause"},
    {"duration", 'd', "TIME", load, kRun, false, false, "", "length of the measurement. Default: 10s"},
    {"warmup", 'w', "TIME", load, kLoads, false, false, "",
     "the same load before it, left out of the result; a ramp warms up at the rate it begins with. "
     "Default: 0s, find-max: 1s"},
    {"when-busy", 0, "POLICY", load, kLoads, false, false, "queue shed",
     "when a request is due and no connection is free: queue = it waits, and its latency counts from when "
     "it was due; shed = it is dropped and counted. Default: queue"},

    {"connections", 'c', "N", connections, kLoads, false, false, "",
     "connections (users in a closed loop), all opened before the load begins. Default: 10"},
    {"threads", 't', "N", connections, kEvery, false, false, "",
     "engine threads, at most one per connection. Default: 1"},
    {"cpus", 0, "LIST", connections, kEvery, false, false, "",
     "pin the threads to these CPUs in turn, 0-1,3. Default: not pinned"},
    {"connect-rate", 0, "N", connections, kLoads, false, false, "",
     "open N connections a second instead of all at once. Default: all at once"},
    {"no-keepalive", 0, "", connections, kLoads, false, false, "", "a new connection for every request"},
    {"requests-per-connection", 0, "N", connections, kLoads, false, false, "",
     "close a connection after N requests and open another. Default: no limit"},
    {"source", 0, "LIST", connections, kLoads, false, false, "",
     "connect from these addresses in turn, with a comma between two. Default: for targets in 127/8 others "
     "of that range, else the kernel chooses"},
    {"unix-socket", 0, "PATH", connections, kLoads, false, false, "@file",
     "connect to this socket; the URL still gives Host and path"},
    {"connect-timeout", 0, "TIME", connections, kLoads, false, false, "",
     "per attempt; 0 = none. Default: 20s"},
    {"spin", 0, "auto | off | TIME", connections, kEvery, false, false, "auto off",
     "how long before a request is due its thread polls instead of sleeping. auto = as long as the host "
     "wakes threads up late. Up to 1s. Default: auto"},
    {"descriptor-tables", 0, "MODE", connections, kLoads, false, false, "auto shared per-thread",
     "shared = all threads in one table of descriptors; per-thread = one each, so that N threads can hold "
     "N times the limit; auto = per-thread when the limit is too low. Default: auto"},

    {"method", 'X', "NAME", request, kLoads, false, false, "GET HEAD POST PUT DELETE PATCH OPTIONS",
     "HTTP method. Default: GET, POST with --body"},
    {"header", 'H', "'NAME: VALUE'", request, kLoads, false, true, "", "another header; repeat it"},
    {"body", 0, "FILE", request, kLoads, false, false, "@file",
     "send this file; a .json file is sent without its white space"},
    {"expect-status", 0, "CODE", request, kLoads, false, false, "200 201 202 204 301 302 304 404",
     "the status that counts as ok; all others are HTTP errors. Default: 200"},
    {"timeout", 0, "TIME", request, kLoads, false, false, "",
     "per request, from when it was sent; 0 = none. Default: 60s"},
    {"grace", 0, "TIME", request, kLoads, false, false, "",
     "after the end wait this long for answers; what is still open then counts as in flight. Default: 2s"},

    {"slo", 0, "LIST", judging, kLoads, true, true, "",
     "objectives, judged over the measurement, p99=150ms,errors=0.1%; see OBJECTIVES. Exit code 1 when one "
     "is not met"},
    {"strict", 0, "", judging, kLoads, true, false, "",
     "exit code 3 when the generator was late or saturated; find-max: a step in which it was late has no "
     "verdict, even if it met the objectives"},
    {"calibration", 0, "FILE", judging, kEvery, true, false, "@file",
     "the file in which --calibrate keeps what it found about this host, and in which runs look it up"},

    {"from", 0, "RATE", search, kFindMax, false, false, "", "the first and lowest rate to try. Default: 100"},
    {"to", 0, "RATE", search, kFindMax, false, false, "", "the highest rate to try. Default: 1000000"},
    {"precision", 0, "PERCENT", search, kFindMax, false, false, "",
     "stop when the best rate and the lowest that failed are this close, 0.5 to 50. Default: 5"},
    {"step-time", 0, "TIME", search, kFindMax, false, false, "",
     "length of a step; steps whose rate is too low for the percentiles of the objectives last longer. "
     "Default: 5s"},
    {"repeats", 0, "N", search, kFindMax, false, false, "",
     "runs that confirm the rate found, 1 to 100. Default: 5"},
    {"pause", 0, "TIME", search, kFindMax, false, false, "",
     "between two steps, so that the server comes to rest. Default: 1s"},

    {"out", 0, "DIR", output, kLoads, true, false, "@folder",
     "write load.json, load-seconds.csv and load.hlog there (made when missing); find-max: find-max.json "
     "and step-NN.json"},
    {"events", 0, "FILE", output, kRun, true, false, "@file",
     "one JSON object per line as things happen; - = standard output"},
    {"record-requests", 0, "FILE", output, kRun, true, false, "@file",
     "one row per request: end time, latency, service time, status, error, name"},
    {"json", 0, "", output, kEvery, true, false, "", "print JSON instead of text"},

    {"plan", 0, "FILE", general, kRun, true, false, "@file",
     "run this plan (docs/formats.md) instead of a URL"},
    {"calibrate", 0, "", general, kCalibrate, false, false, "",
     "measure this host instead of a server: how much the generator can send and how late it sends"},
    {"quick", 0, "", general, kCalibrate, false, false, "",
     "with --calibrate: shorter measurements, under 10 s instead of under 30 s"},
    {"seed", 0, "N", general, kLoads, true, false, "", "of everything random. Default: the plan's, or 1"},
    {"completion", 0, "SHELL", general, kRun, true, false, "bash",
     "print the completion script; source it: . <(heddle-load --completion bash)"},
    {"version", 0, "", general, kEvery, true, false, "", "print the version"},
    {"help", 'h', "", general, kEvery, true, false, "", "print this"},
});

}  // namespace

std::string_view name_of(Group group) {
  constexpr std::array<std::string_view, kGroups> names{"Load",   "Connections", "Request", "Judging",
                                                        "Search", "Output",      "General"};
  return names.at(static_cast<std::size_t>(group));
}

std::span<const OptionSpec> option_table() {
  return kTable;
}

const OptionSpec* find_option(std::string_view name) {
  const auto* found =
      std::find_if(kTable.begin(), kTable.end(), [name](const auto& option) { return option.name == name; });
  return found == kTable.end() ? nullptr : found;
}

const OptionSpec* find_option(char letter) {
  const auto* found = std::find_if(kTable.begin(), kTable.end(), [letter](const auto& option) {
    return option.letter == letter && letter != 0;
  });
  return found == kTable.end() ? nullptr : found;
}

bool takes(const OptionSpec& option, Command command) {
  const std::uint8_t bit = command == Command::run        ? kRun
                           : command == Command::find_max ? kFindMax
                                                          : kCalibrate;
  return (option.users & bit) != 0;
}

}  // namespace heddle::load
