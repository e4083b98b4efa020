#include "loadgen/plan/plan_reader.hpp"

#include "loadgen/plan/input_file.hpp"
#include "loadgen/plan/json_reader.hpp"
#include "loadgen/plan/mix.hpp"
#include "loadgen/plan/token.hpp"

#include <algorithm>
#include <set>

#include <boost/algorithm/string/predicate.hpp>
#include <fmt/format.h>

namespace heddle::plan {
namespace {

namespace json = boost::json;

constexpr std::int64_t kMaxMillis = kMaxDurationMillis;

class Reader {
 public:
  explicit Reader(const std::filesystem::path& folder) : folder_{folder} {}

  ReadPlan read(const json::value& root) {
    JsonReader in{root, ""};
    (void)in.integer("schema", 1, 1);
    Plan plan;
    plan.name = in.text("name", "");
    plan.seed = static_cast<std::uint64_t>(in.integer("seed", 0, INT64_MAX, 1));
    read_targets(in, plan);
    read_connections(in, plan);
    plan.mix = in.choice("mix", {"per-user", "per-request"}, "per-request") == "per-user" ? Mix::per_user
                                                                                          : Mix::per_request;
    plan.think = read_think(in);
    plan.when_busy =
        in.choice("whenBusy", {"queue", "shed"}, "queue") == "shed" ? WhenBusy::shed : WhenBusy::queue;
    const auto* stages = in.array("stages", true);
    for (std::size_t i = 0; i < stages->size(); ++i) plan.stages.push_back(read_stage((*stages)[i], i));
    const auto* requests = in.array("requests", true);
    for (std::size_t i = 0; i < requests->size(); ++i)
      plan.requests.push_back(read_request((*requests)[i], i));
    if (const auto* slo = in.array("slo", false)) {
      for (const auto& objective : *slo) {
        if (!objective.is_string()) in.refuse("slo", "a list of texts such as \"p99=150ms\"");
        plan.slo.emplace_back(objective.as_string());
      }
    }
    note_unknown(in);
    check_plan(plan);
    return {std::move(plan), std::move(warnings_)};
  }

 private:
  void note_unknown(const JsonReader& in) {
    for (const auto& key : in.unknown())
      warnings_.push_back(fmt::format("plan: {}: not known, ignored", key));
  }

  static void read_targets(JsonReader& in, Plan& plan) {
    for (const auto& target : *in.array("targets", true)) {
      if (!target.is_string()) in.refuse("targets", "a list of URLs");
      try {
        plan.targets.push_back(parse_url(std::string_view{target.as_string()}));
      } catch (const std::invalid_argument& error) {
        throw PlanError(fmt::format("plan: targets: {}", error.what()));
      }
    }
  }

  void read_connections(JsonReader& in, Plan& plan) {
    plan.connections = in.integer("connections", 1, kMaxConnections);
    plan.threads = in.integer("threads", 1, kMaxThreads, 1);
    if (const auto* cpus = in.array("cpus", false)) {
      for (const auto& cpu : *cpus) {
        if (!cpu.is_int64() || cpu.as_int64() < 0 || cpu.as_int64() > 4095) in.refuse("cpus", "CPU numbers");
        plan.cpus.push_back(static_cast<int>(cpu.as_int64()));
      }
    }
    read_sources(in, plan);
    plan.keep_alive = in.boolean("keepAlive", true);
    if (in.find("requestsPerConnection") != nullptr) {
      plan.requests_per_connection = in.integer("requestsPerConnection", 1, INT64_MAX);
    }
    plan.request_timeout =
        kMillisecond * in.integer("requestTimeoutMillis", 0, kMaxMillis, kDefaultRequestTimeoutMillis);
    plan.connect_timeout =
        kMillisecond * in.integer("connectTimeoutMillis", 0, kMaxMillis, kDefaultConnectTimeoutMillis);
    plan.grace = kMillisecond * in.integer("graceMillis", 0, kMaxMillis, kDefaultGraceMillis);
    plan.congestion_control = in.text("congestionControl", "");
    const auto tables = in.choice("descriptorTables", {"auto", "shared", "per-thread"}, "auto");
    if (tables == "shared") plan.descriptor_tables = DescriptorTables::shared;
    if (tables == "per-thread") plan.descriptor_tables = DescriptorTables::per_thread;
    if (in.find("spinMicros") != nullptr) {
      plan.spin = kMicrosecond * in.integer("spinMicros", 0, kMaxSpinMicros);
    }
    if (const auto* connect = in.find("connect")) {
      JsonReader mode{*connect, "connect."};
      if (mode.choice("mode", {"burst", "ramp"}) == "ramp")
        plan.connect_ramp = mode.number("perSecond", 1, kMaxRate);
      note_unknown(mode);
    }
  }

  static void read_sources(JsonReader& in, Plan& plan) {
    const auto* value = in.find("sourceAddresses");
    if (value == nullptr || (value->is_string() && value->as_string() == "auto")) return;
    if (!value->is_array()) in.refuse("sourceAddresses", "\"auto\" or a list of addresses");
    for (const auto& address : value->as_array()) {
      if (!address.is_string()) in.refuse("sourceAddresses", "\"auto\" or a list of addresses");
      plan.sources.emplace_back(address.as_string());
    }
    plan.auto_sources = false;
  }

  Think read_think(JsonReader& in) {
    const auto* value = in.find("think");
    if (value == nullptr) return {};
    JsonReader think{*value, "think."};
    const auto kind = think.choice("kind", {"none", "constant", "uniform", "exponential"});
    if (kind == "none") return {};
    std::vector<Nanos> millis;
    const auto* given = think.find("millis");
    if (given != nullptr && given->is_array()) {
      for (const auto& entry : given->as_array()) {
        json::error_code error;
        const auto number = entry.is_number() ? entry.to_number<double>(error) : -1.0;
        if (error || number < 0 || number > static_cast<double>(kMaxMillis)) {
          think.refuse("millis", fmt::format("numbers from 0 to {}", kMaxMillis));
        }
        millis.push_back(static_cast<Nanos>(number * kMillisecond));
      }
    } else {
      millis.push_back(
          static_cast<Nanos>(think.number("millis", 0, static_cast<double>(kMaxMillis)) * kMillisecond));
    }
    note_unknown(think);
    if (kind == "uniform") {
      if (millis.size() != 2 || millis[0] > millis[1]) think.refuse("millis", "[LOW, HIGH] with LOW <= HIGH");
      return {ThinkKind::uniform, millis[0], millis[1]};
    }
    if (millis.size() != 1) think.refuse("millis", "one number");
    return {kind == "constant" ? ThinkKind::constant : ThinkKind::exponential, millis[0], millis[0]};
  }

  Stage read_stage(const json::value& value, std::size_t index) {
    JsonReader in{value, fmt::format("stages[{}].", index)};
    Stage stage;
    stage.name = in.text("name", fmt::format("stage-{}", index + 1));
    stage.kind = in.choice("kind", {"warmup", "measure"}, "measure") == "warmup" ? StageKind::warmup
                                                                                 : StageKind::measure;
    stage.duration = kMillisecond * in.integer("durationMillis", 1, kMaxMillis);
    const auto* arrivals = in.find("arrivals");
    if (arrivals == nullptr) in.refuse("arrivals", "an object");
    stage.arrivals = read_arrivals(JsonReader{*arrivals, in.path_of("arrivals") + "."});
    note_unknown(in);
    return stage;
  }

  Arrivals read_arrivals(JsonReader in) {
    const auto kind = in.choice("kind", {"constant-rate", "poisson", "rate-ramp", "users", "users-ramp"});
    Arrivals arrivals;
    if (kind == "users") {
      arrivals = Users{in.integer("count", 0, kMaxConnections)};
    } else if (kind == "users-ramp") {
      arrivals = UsersRamp{in.integer("from", 0, kMaxConnections), in.integer("to", 0, kMaxConnections)};
    } else if (kind == "rate-ramp") {
      arrivals = RateRamp{in.number("from", 0, kMaxRate), in.number("to", 0, kMaxRate)};
    } else {
      const double rate = in.number("perSecond", kMinRate, kMaxRate);
      if (kind == "poisson") arrivals = Poisson{rate};
      if (kind == "constant-rate") arrivals = ConstantRate{rate};
    }
    note_unknown(in);
    return arrivals;
  }

  RequestSpec read_request(const json::value& value, std::size_t index) {
    JsonReader in{value, fmt::format("requests[{}].", index)};
    RequestSpec request;
    request.name = in.text("name");
    request.weight = in.integer("weight", 1, kMaxPattern, 1);
    request.method = in.text("method", "GET");
    request.path = in.text("path");
    const auto is_bad = [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 127; };
    if (!request.path.starts_with('/') || std::any_of(request.path.begin(), request.path.end(), is_bad)) {
      in.refuse("path", "a path that begins with / and holds no white space");
    }
    if (const auto* headers = in.find("headers")) {
      if (!headers->is_object()) in.refuse("headers", "an object of texts");
      for (const auto& header : headers->as_object()) {
        if (!header.value().is_string()) in.refuse("headers", "an object of texts");
        request.headers.emplace_back(header.key(), header.value().as_string());
      }
    }
    const auto body = in.text("bodyFile", "");
    if (!body.empty()) request.body_file = (folder_ / body).lexically_normal().string();
    if (const auto* expect = in.find("expect")) {
      JsonReader expected{*expect, in.path_of("expect") + "."};
      request.expect_status = static_cast<int>(expected.integer("status", 100, 599, 200));
      if (expected.find("bodyBytes") != nullptr) {
        request.expect_body_bytes = expected.integer("bodyBytes", 0, INT64_MAX);
      }
      note_unknown(expected);
    }
    note_unknown(in);
    return request;
  }

  std::filesystem::path folder_;
  std::vector<std::string> warnings_;
};

// Names stand in CSV cells and in the tags of the histogram log, which are cut at commas and white space.
void check_name(const std::string& name, const std::string& key) {
  const auto bad = [](char c) { return c <= ' ' || c > '~' || c == ',' || c == '"' || c == '|'; };
  if (!name.empty() && name.size() <= 80 && std::none_of(name.begin(), name.end(), bad)) return;
  throw PlanError(
      fmt::format("plan: {}.name: found {}, accepted: 1 to 80 printable ASCII characters without space, "
                  "comma, quote and |",
                  key, shown(json::value(name))));
}

// A name with a colon or a line break in it would be another header, or two.
void check_token(const std::string& text, const std::string& key) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_token_char)) return;
  throw PlanError(fmt::format("plan: {}: found {}, accepted: letters, digits and !#$%&'*+-.^_`|~", key,
                              shown(json::value(text))));
}

void check_value(const std::string& text, const std::string& key) {
  const auto bad = [](char c) { return c == 127 || (static_cast<unsigned char>(c) < ' ' && c != '\t'); };
  if (std::none_of(text.begin(), text.end(), bad)) return;
  throw PlanError(fmt::format("plan: {}: found {}, accepted: text without control characters", key,
                              shown(json::value(text))));
}

// "LINE:COLUMN" of byte `at`, both from 1 and in bytes, as editors and compilers count.
std::string position_of(std::string_view text, std::size_t at) {
  const auto before = text.substr(0, at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto start = before.rfind('\n');
  return fmt::format("{}:{}", line, at - (start == std::string_view::npos ? 0 : start + 1) + 1);
}

// A length that differs from the body's makes the next request part of this one's body, or the other way.
void check_framing(const std::string& name, const std::string& key) {
  for (const char* framing : {"Content-Length", "Transfer-Encoding"}) {
    if (!boost::algorithm::iequals(name, framing)) continue;
    throw PlanError(
        fmt::format("plan: {}: found {}, accepted: headers that do not frame the body", key, name));
  }
}

}  // namespace

void check_plan(const Plan& plan) {
  bool measured = false;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const auto& stage = plan.stages[i];
    const auto key = fmt::format("stages[{}]", i);
    check_name(stage.name, key);
    if (is_users(stage) != is_users(plan)) {
      throw PlanError(
          fmt::format("plan: {}.arrivals: users and rates in one plan, accepted: one of them", key));
    }
    if (measured && stage.kind == StageKind::warmup) {
      throw PlanError(
          fmt::format("plan: {}.kind: found warmup after measure, accepted: warm-up stages first", key));
    }
    measured = measured || stage.kind == StageKind::measure;
  }
  if (!measured) throw PlanError("plan: stages: found no stage of kind measure, accepted: at least one");
  if (peak_users(plan) > plan.connections) {
    throw PlanError(
        fmt::format("plan: stages: found {} users, accepted: at most {} (connections; a user owns one)",
                    peak_users(plan), plan.connections));
  }
  if (plan.targets.empty()) throw PlanError("plan: targets: found nothing, accepted: at least one URL");
  if (plan.requests.size() > kMaxRequestNames) {
    throw PlanError(fmt::format("plan: requests: found {} of them, accepted: at most {}",
                                plan.requests.size(), kMaxRequestNames));
  }
  std::set<std::string> names;
  std::vector<std::int64_t> weights;
  for (std::size_t i = 0; i < plan.requests.size(); ++i) {
    const auto& request = plan.requests[i];
    check_name(request.name, fmt::format("requests[{}]", i));
    check_token(request.method, fmt::format("requests[{}].method", i));
    for (const auto& [name, value] : request.headers) {
      check_token(name, fmt::format("requests[{}].headers", i));
      check_framing(name, fmt::format("requests[{}].headers", i));
      check_value(value, fmt::format("requests[{}].headers.{}", i, name));
    }
    if (!names.insert(request.name).second) {
      throw PlanError(fmt::format("plan: requests[{}].name: found \"{}\" twice, accepted: different names", i,
                                  request.name));
    }
    weights.push_back(request.weight);
  }
  try {
    (void)interleave(weights);
  } catch (const std::invalid_argument& error) {
    throw PlanError(fmt::format("plan: requests: {}", error.what()));
  }
}

ReadPlan parse_plan(std::string_view text, const std::filesystem::path& folder, const std::string& name) {
  json::parser parser;
  json::error_code error;
  const auto taken = parser.write_some(text.data(), text.size(), error);
  if (!error && taken < text.size()) error = json::error::extra_data;
  if (error) {
    throw PlanError(fmt::format("{}:{}: no valid JSON: {}", name, position_of(text, taken), error.message()));
  }
  return Reader{folder}.read(parser.release());
}

ReadPlan read_plan(const std::filesystem::path& file) {
  std::string text;
  try {
    text = read_input_file(file, "the plan");
  } catch (const std::invalid_argument& error) {
    throw PlanError(error.what());
  }
  return parse_plan(text, std::filesystem::absolute(file).parent_path(), file.string());
}

}  // namespace heddle::plan
