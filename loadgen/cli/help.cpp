// What --help prints.
#include "loadgen/cli/option_table.hpp"
#include "loadgen/options.hpp"

#include <fmt/format.h>

namespace heddle::load {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kIndent = 4;
constexpr std::size_t kTextColumn = 34;

constexpr std::string_view kRunHead = R"(NAME
    heddle-load - HTTP/1.1 load on a fixed schedule or by users, and an honest account of it

SYNOPSIS
    heddle-load [-c N] [-r RATE] [-d TIME] [OPTION]... URL
    heddle-load --plan FILE [--out DIR] [OPTION]...
    heddle-load find-max --slo LIST [OPTION]... URL          (heddle-load find-max --help)
    heddle-load --calibrate [--quick] [-t N] [--calibration FILE]

DESCRIPTION
    With a rate, request k has a due time that the schedule alone decides (an open loop): a slow
    server does not slow the load down. Three times are measured for each request:
      latency     from when it was due until the whole answer was there: a user's wait
      service     from when it was sent until the whole answer was there
      first byte  from when it was sent until the answer began
    The time to connect is told apart. Without a rate each connection sends when its last answer is
    there (a closed loop): then due and sent are the same moment, and pauses of the server hide from
    the latencies.

    A request without an answer (timeout, still open at the end, shed, never sent) enters the
    latencies as "at least as long as it waited": ">=2000" is a lower limit. A percentile is told
    only where 100 requests or more lie above it (p99: from 10,000 requests on), otherwise it is
    "-", in JSON null.

    The generator judges itself: ok, late (it sent later than it should have) or saturated (its
    threads had too little time left). Figures of a late or saturated run say as much about it as
    about the server.

    URL is http://HOST[:PORT][/PATH], with an IPv6 address in brackets, or unix:/SOCKET[:/PATH].
    The head of an answer may be 64 KiB long; a longer one is malformed.
    TIME takes us, ms, s (the default), m and h. Rates are requests per second of all connections
    and threads together.
)";

constexpr std::string_view kObjectives = R"(
OBJECTIVES
    --slo KEY=LIMIT, with a comma between two. Judged over the measurement, after its last answer:
      p50 p90 p99 p999 max   latency from due, at most LIMIT: p99=150ms; units us, ms, s
      service-p50 ...        the same for the service time
      errors                 errors and missing answers, at most LIMIT of what was sent: errors=0.1%
      rate                   answers that were ok, at least LIMIT of what was due: rate=99%
      ok-rate                answers that were ok per second, at least LIMIT: ok-rate=5000/s
    REQUEST:KEY=LIMIT is about one request of a plan: get-movies:p99=150ms. A value equal to its
    limit is met. An objective that the numbers cannot tell (too few requests, only a lower limit)
    is unknown, which counts as not met. When the generator was late or saturated, the server need
    not be the cause of what is not met.
)";

constexpr std::string_view kRunTail = R"(
OUTPUT
    The text shows: connections; requests planned = sent + shed + never sent; answers and their
    rate; errors by class; latency, service and first byte; the objectives; the seed; and the
    generator's verdict with its reason. On a terminal a line on standard error shows each second
    meanwhile. --out DIR holds load.json (all of it, with every stage and request name),
    load-seconds.csv (one row a second) and load.hlog (an HdrHistogram log). docs/loadgen.md
    explains every key and every class of errors.

EXIT CODES
    0    complete, and every objective met
    1    failed: nothing could connect, no request succeeded, a file could not be written, or an
         objective was not met
    2    wrong usage: one line on standard error says what was found and what is accepted
    3    not measurable here: too few descriptors or ports; with --strict, the generator was late
         or saturated
    130  interrupted (SIGINT, SIGTERM): all results up to then are there, marked interrupted

EXAMPLES
    5,000 requests a second over 100 connections, with objectives:
        heddle-load -c 100 -r 5000 -d 10s --slo p99=150ms,errors=0.1% http://127.0.0.1:8080/movies
    Up, steady and down, all files in a folder:
        heddle-load -c 200 --stage 30s:0..2000 --stage 1m:2000 --stage 30s:2000..0 --out up URL
    200 users who pause one to three seconds:
        heddle-load -c 200 --think 1s..3s -d 1m URL
    A POST with a body of its own:
        heddle-load -r 50 -H 'Content-Type: application/json' --body movie.json \
            --expect-status 201 URL
)";

constexpr std::string_view kFindMaxHead = R"(NAME
    heddle-load find-max - the highest constant rate at which a server meets objectives

SYNOPSIS
    heddle-load find-max --slo LIST [--from RATE] [--to RATE] [OPTION]... URL

DESCRIPTION
    Runs step after step, each a load at a constant rate with a warm-up of its own. It begins at
    --from and doubles the rate until a step fails twice in a row, then halves the distance (on a
    logarithmic scale) until --precision is reached. The rate found is then confirmed by --repeats
    runs: all but one must pass, otherwise the next lower rate is tried. rate=99% is added to the
    objectives unless they hold rate or ok-rate: the answers must keep up with the rate.

    A step lasts --step-time, or as long as its percentiles need: 100 requests above each where a
    rate is confirmed, 10 while the search goes on (such steps are a guide, and no result). The
    first line tells how long; a --from at which a repeat would need over an hour is refused.

    A step that the generator was too busy for (saturated), or that missed while the generator sent
    late, says nothing about the server. When that happens twice in a row, the search ends, confirms
    the best rate so far and says that the generator was the limit: exit code 3. A step that met the
    objectives although the generator sent late did meet them, since latency counts from due. A
    step above 60 % of the ceiling that --calibrate found on this host says so.
)";

constexpr std::string_view kFindMaxTail = R"(
OUTPUT
    A line per step, then the rate that was confirmed, how many repeats passed, the interval from
    the rate confirmed to the lowest that failed, and the rates achieved.
    --json prints one document instead; --out DIR holds it as find-max.json, and the load.json of
    step N as step-NN.json.

EXIT CODES
    0    a rate was confirmed; the objectives or --to are the limit
    1    not even the lowest rate met the objectives, no rate was confirmed, or a run failed
    2    wrong usage
    3    the generator was the limit, or the host cannot run the load
    130  interrupted: what is known so far is printed

EXAMPLE
    heddle-load find-max -c 100 --slo p99=150ms,errors=0.1% http://127.0.0.1:8080/movies
)";

constexpr std::string_view kCalibrateHead = R"(NAME
    heddle-load --calibrate - how much this host's generator can send, and how late it sends

SYNOPSIS
    heddle-load --calibrate [--quick] [-t N] [--cpus LIST] [--calibration FILE] [--json]

DESCRIPTION
    Measures against a built-in server that does nothing: the highest rate, how late requests are
    sent at fixed rates, and, with a stall of known length, that latency from due shows it and
    service time does not. Stores the result; later runs on this host say when they come near the
    limit. Takes up to 30 seconds.

EXIT CODES
    0    measured and stored
    1    failed; also when the stall was not measured as it was
    2    wrong usage, or no calibration can be stored at that place
    3    not measurable here
    130  interrupted
)";

// `text` in lines of at most kWidth, the first of which begins in column `column`, as all others do.
std::string wrapped(std::string_view text, std::size_t column) {
  std::string out;
  std::size_t at = column;
  while (!text.empty()) {
    const auto space = text.find(' ');
    const auto word = text.substr(0, space);
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
    if (at > column && at + 1 + word.size() > kWidth) {
      out += "\n" + std::string(column, ' ');
      at = column;
    } else if (at > column) {
      out += ' ';
      ++at;
    }
    out += word;
    at += word.size();
  }
  return out + "\n";
}

std::string entry(const OptionSpec& option) {
  std::string left(kIndent, ' ');
  left += option.letter == 0 ? "    " : fmt::format("-{}, ", option.letter);
  left += fmt::format("--{}", option.name);
  if (!option.value.empty()) left += fmt::format(" {}", option.value);
  if (left.size() + 2 > kTextColumn) {
    left += "\n" + std::string(kTextColumn, ' ');
  } else {
    left.resize(kTextColumn, ' ');
  }
  return left + wrapped(option.text, kTextColumn);
}

std::string options_of(Command command) {
  std::string out = "\nOPTIONS\n";
  for (std::size_t group = 0; group < kGroups; ++group) {
    std::string entries;
    for (const auto& option : option_table()) {
      const bool shown = takes(option, command) || (command == Command::run && option.name == "calibrate");
      if (static_cast<std::size_t>(option.group) == group && shown) entries += entry(option);
    }
    if (!entries.empty()) out += fmt::format("  {}\n{}", name_of(static_cast<Group>(group)), entries);
  }
  return out;
}

std::string text_of(std::string_view head, Command command, std::string_view middle, std::string_view tail) {
  return fmt::format("{}{}{}{}", head, options_of(command), middle, tail);
}

}  // namespace

std::string help_text(Command command) {
  if (command == Command::find_max) return text_of(kFindMaxHead, command, kObjectives, kFindMaxTail);
  if (command == Command::calibrate) return text_of(kCalibrateHead, command, "", "");
  return text_of(kRunHead, command, kObjectives, kRunTail);
}

}  // namespace heddle::load
