#include "loadgen/options.hpp"

#include "host-tuning/cpus.hpp"
#include "loadgen/plan/plan_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include <boost/program_options.hpp>
#include <fmt/format.h>

namespace heddle::load {
namespace {

namespace po = boost::program_options;

constexpr std::int64_t kDefaultConnections = 10;
constexpr const char* kDefaultDuration = "10s";

po::options_description described() {
  po::options_description people{"One URL"};
  auto add = people.add_options();
  add("connections,c", po::value<std::string>()->value_name("N"),
      "connections, opened all at once (default 10)");
  add("rate,r", po::value<std::string>()->value_name("R"),
      "requests per second over all connections, on a fixed schedule (default: none, a closed loop: each "
      "connection sends when its last answer is there)");
  add("poisson", "with -r: random gaps (a Poisson process) instead of even ones");
  add("duration,d", po::value<std::string>()->value_name("TIME"),
      "length of the measurement: 10s, 500ms, 2m, 1h (default 10s)");
  add("warmup,w", po::value<std::string>()->value_name("TIME"),
      "the same load before it, left out of the result (default 0s)");
  add("threads,t", po::value<std::string>()->value_name("N"),
      "engine threads, at most one per connection (default 1)");
  add("cpus", po::value<std::string>()->value_name("LIST"),
      "pin the threads in turn, e.g. 0-1,3 (default: not pinned)");
  add("method,X", po::value<std::string>()->value_name("NAME"),
      "HTTP method (default GET, POST with --body)");
  add("header,H", po::value<std::vector<std::string>>()->value_name("'NAME: VALUE'"),
      "another header; repeat it");
  add("body", po::value<std::string>()->value_name("FILE"),
      "send this file; a .json file is sent without its white space");
  add("expect-status", po::value<std::string>()->value_name("CODE"),
      "the status that counts as ok (default 200); others are HTTP errors");
  add("timeout", po::value<std::string>()->value_name("TIME"),
      "per request, from its sending; 0 = none (default 60s)");
  add("connect-timeout", po::value<std::string>()->value_name("TIME"), "per attempt; 0 = none (default 20s)");
  add("grace", po::value<std::string>()->value_name("TIME"),
      "after the end, wait this long for answers (default 2s)");
  add("no-keepalive", "a new connection for every request");

  po::options_description general{"General"};
  auto more = general.add_options();
  more("plan", po::value<std::string>()->value_name("FILE"),
       "run this plan (docs/formats.md) instead of a URL");
  more("seed", po::value<std::string>()->value_name("N"), "of everything random (default: the plan's, or 1)");
  more("out", po::value<std::string>()->value_name("DIR"),
       "write load.json, load-seconds.csv and load.hlog there (made when missing)");
  more("events", po::value<std::string>()->value_name("FILE"),
       "one JSON object per line as things happen; - = standard output");
  more("json", "print load.json instead of the text");
  more("strict", "exit 3 when the generator was late or saturated");
  more("version", "print the version");
  more("help,h", "print this");

  po::options_description all;
  all.add(people).add(general);
  return all;
}

[[noreturn]] void refuse(const std::string& option, const std::string& found, const std::string& accepted) {
  throw UsageError(fmt::format("--{}: found '{}', accepted: {}", option, found, accepted));
}

class Values {
 public:
  explicit Values(const po::variables_map& map) : map_{map} {}

  [[nodiscard]] bool has(const char* option) const { return map_.count(option) > 0; }
  [[nodiscard]] std::string text(const char* option, const std::string& fallback) const {
    return has(option) ? map_[option].as<std::string>() : fallback;
  }
  [[nodiscard]] std::int64_t integer(const char* option, std::int64_t low, std::int64_t high,
                                     std::int64_t fallback) const {
    if (!has(option)) return fallback;
    const auto& found = map_[option].as<std::string>();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(found.data(), found.data() + found.size(), value);
    if (error != std::errc{} || end != found.data() + found.size() || value < low || value > high) {
      refuse(option, found, fmt::format("an integer from {} to {}", low, high));
    }
    return value;
  }
  [[nodiscard]] double number(const char* option, double low, double high) const {
    const auto& found = map_[option].as<std::string>();
    double value = 0;
    const auto [end, error] = std::from_chars(found.data(), found.data() + found.size(), value);
    if (error != std::errc{} || end != found.data() + found.size() || !(value >= low && value <= high)) {
      refuse(option, found, fmt::format("a number from {} to {}", low, high));
    }
    return value;
  }
  [[nodiscard]] plan::Nanos duration(const char* option, const char* fallback) const {
    return parse_duration(text(option, fallback), option);
  }

 private:
  const po::variables_map& map_;
};

plan::RequestSpec request_of(const Values& values, const po::variables_map& map, const plan::Url& url) {
  plan::RequestSpec request;
  request.name = "request";
  request.path = url.path;
  request.body_file = values.text("body", "");
  request.method = values.text("method", request.body_file.empty() ? "GET" : "POST");
  request.expect_status = static_cast<int>(values.integer("expect-status", 100, 599, 200));
  if (map.count("header") == 0) return request;
  for (const auto& header : map["header"].as<std::vector<std::string>>()) {
    const auto colon = header.find(':');
    if (colon == std::string::npos || colon == 0) refuse("header", header, "NAME: VALUE");
    const auto value = header.find_first_not_of(' ', colon + 1);
    request.headers.emplace_back(header.substr(0, colon),
                                 value == std::string::npos ? "" : header.substr(value));
  }
  return request;
}

plan::Plan plan_for_url(const Values& values, const po::variables_map& map, const std::string& text) {
  plan::Plan plan;
  plan::Url url;
  try {
    url = plan::parse_url(text);
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
  plan.requests.push_back(request_of(values, map, url));
  url.path = "/";
  plan.name = text;
  plan.targets.push_back(url);
  plan.connections = values.integer("connections", 1, plan::kMaxConnections, kDefaultConnections);
  plan.threads = values.integer("threads", 1, plan::kMaxThreads, 1);
  if (values.has("cpus")) {
    try {
      plan.cpus = host::parse_cpu_list(values.text("cpus", ""));
    } catch (const std::invalid_argument& error) {
      throw UsageError(fmt::format("--cpus: {}", error.what()));
    }
  }
  plan.keep_alive = !values.has("no-keepalive");
  plan.request_timeout = values.duration("timeout", "60s");
  plan.connect_timeout = values.duration("connect-timeout", "20s");
  plan.grace = values.duration("grace", "2s");
  plan::Arrivals arrivals = plan::Users{plan.connections};
  if (values.has("rate")) {
    const double rate = values.number("rate", 1e-6, plan::kMaxRate);
    arrivals = values.has("poisson") ? plan::Arrivals{plan::Poisson{rate}}
                                     : plan::Arrivals{plan::ConstantRate{rate}};
  } else if (values.has("poisson")) {
    throw UsageError("--poisson: needs --rate");
  }
  const auto warmup = values.duration("warmup", "0s");
  if (warmup > 0) plan.stages.push_back({"warmup", plan::StageKind::warmup, warmup, arrivals});
  const auto duration = values.duration("duration", kDefaultDuration);
  if (duration <= 0) refuse("duration", values.text("duration", ""), "more than 0");
  plan.stages.push_back({"measure", plan::StageKind::measure, duration, arrivals});
  plan::check_plan(plan);
  return plan;
}

// These describe the load itself, which a plan does completely.
void refuse_with_plan(const po::variables_map& map) {
  for (const char* option :
       {"connections", "rate", "poisson", "duration", "warmup", "threads", "cpus", "method", "header", "body",
        "expect-status", "timeout", "connect-timeout", "grace", "no-keepalive", "url"}) {
    if (map.count(option) > 0) throw UsageError(fmt::format("--{}: not together with --plan", option));
  }
}

po::variables_map parse(int argc, const char* const* argv) {
  auto all = described();
  po::options_description hidden;
  hidden.add(all).add_options()("url", po::value<std::vector<std::string>>(), "");
  po::positional_options_description positional;
  positional.add("url", -1);
  // No guessing: --dur is an error, not --duration.
  const int style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
  po::variables_map map;
  try {
    po::store(po::command_line_parser(argc, argv).options(hidden).positional(positional).style(style).run(),
              map);
    po::notify(map);
  } catch (const po::error& error) {
    throw UsageError(error.what());
  }
  return map;
}

}  // namespace

plan::Nanos parse_duration(const std::string& text, const std::string& option) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string unit{end, text.data() + text.size()};
  double nanos = 0;
  if (unit.empty() || unit == "s") nanos = 1e9;
  if (unit == "ms") nanos = 1e6;
  if (unit == "m") nanos = 60e9;
  if (unit == "h") nanos = 3600e9;
  const double longest = static_cast<double>(plan::kMaxDurationMillis) * 1e6;
  if (error != std::errc{} || nanos == 0 || !(value >= 0) || value * nanos > longest) {
    refuse(option, text, "a time such as 10s, 500ms, 2m, 1h (7 days at most)");
  }
  return std::llround(value * nanos);
}

std::string help_text() {
  std::ostringstream out;
  out << "heddle-load: HTTP/1.1 load on a fixed schedule, or by users, and an honest account of what came "
         "back\n\n"
         "  heddle-load -c 100 -r 5000 -d 10s URL\n"
         "  heddle-load --plan plan.json --out DIR [--events FILE|-]\n\n"
         "Latency counts from the moment a request was due, service time from the moment it was sent. Times "
         "take "
         "the\nunits ms, s (default), m, h.\n"
      << described()
      << "\nExit code: 0 complete, 1 failed (nothing could connect, no request succeeded), 2 usage, 3 not "
         "measurable here (too "
         "few\n"
         "descriptors; with --strict: the generator was late or saturated), 130 interrupted.\n";
  return out.str();
}

Options parse_options(int argc, const char* const* argv) {
  const auto map = parse(argc, argv);
  const Values values{map};
  Options options;
  options.help = values.has("help");
  options.version = values.has("version");
  if (options.help || options.version) return options;
  options.json = values.has("json");
  options.strict = values.has("strict");
  options.out = values.text("out", "");
  options.events = values.text("events", "");
  if (values.has("out") && options.out.empty()) refuse("out", "", "a folder");
  if (values.has("events") && options.events.empty()) refuse("events", "", "a file or -");
  if (options.json && options.events == "-") throw UsageError("--json: not together with --events -");
  if (values.has("plan")) {
    refuse_with_plan(map);
    auto read = plan::read_plan(values.text("plan", ""));
    options.plan = std::move(read.plan);
    options.warnings = std::move(read.warnings);
  } else {
    if (!values.has("url")) throw UsageError("no URL and no --plan; see heddle-load --help");
    const auto& urls = map["url"].as<std::vector<std::string>>();
    if (urls.size() > 1) throw UsageError(fmt::format("one URL is accepted, found another: '{}'", urls[1]));
    options.plan = plan_for_url(values, map, urls.front());
  }
  options.plan.seed = static_cast<std::uint64_t>(
      values.integer("seed", 0, INT64_MAX, static_cast<std::int64_t>(options.plan.seed)));
  return options;
}

}  // namespace heddle::load
