#include "loadgen/report/requests_csv.hpp"

#include <chrono>
#include <cstring>
#include <iterator>
#include <pthread.h>

#include <fmt/format.h>

namespace heddle::report {
namespace {

constexpr std::string_view kHeader =
    "end_epoch_millis,monotonic_nanos,stage,request,outcome,latency_micros,service_micros,status,error\n";
constexpr auto kPause = std::chrono::milliseconds{5};

std::string_view outcome_of(const record::RequestRecord& row) {
  using record::Outcome;
  switch (row.outcome) {
    case Outcome::ok:
      return "ok";
    case Outcome::http_error:
      return "httpError";
    case Outcome::transport_error:
      return record::name_of(row.failure.error);
    case Outcome::timeout:
      return "timeout";
    case Outcome::in_flight:
      return "inFlight";
    case Outcome::shed:
      return "shed";
    case Outcome::unsent:
      return "unsent";
  }
  return "";
}

// The kernel's description; no text in the program's language.
std::string error_of(const record::RequestRecord& row) {
  if (row.outcome != record::Outcome::transport_error || row.failure.code == 0) return {};
  const char* text = strerrordesc_np(row.failure.code);
  return text == nullptr ? fmt::format("errno {}", row.failure.code) : csv_field(text);
}

std::vector<std::string> fields_of(const std::vector<std::string>& names) {
  std::vector<std::string> fields;
  fields.reserve(names.size());
  for (const auto& name : names) fields.push_back(csv_field(name));
  return fields;
}

}  // namespace

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string{text};
  std::string quoted{'"'};
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

RequestsCsv::RequestsCsv(const std::filesystem::path& file, std::size_t threads, std::size_t capacity)
    : name_{file}, file_{file}, log_{threads, capacity} {}

RequestsCsv::~RequestsCsv() {
  stop();
}

void RequestsCsv::started(const record::RunInfo& info) {
  info_ = info;
  stages_ = fields_of(info.stages);
  classes_ = fields_of(info.classes);
  file_.write(kHeader);
  problem_ = file_.problem();
  writer_ = std::thread{[this] { write_until_stopped(); }};
}

void RequestsCsv::write_until_stopped() {
  pthread_setname_np(pthread_self(), "load-rows");
  while (!stopping_.load(std::memory_order_acquire)) {
    std::this_thread::sleep_for(kPause);
    write_what_is_there();
  }
}

void RequestsCsv::write_what_is_there() {
  taken_.clear();
  const auto count = static_cast<std::int64_t>(log_.take(taken_));
  if (count == 0) return;
  if (!file_.problem().empty()) {  // a full disk: the run goes on, and its rows are counted
    lost_ += count;
    return;
  }
  fmt::memory_buffer out;
  const auto to = std::back_inserter(out);
  for (const auto& row : taken_) {
    fmt::format_to(to, "{},{},{},{},{},{},", info_.anchor.epoch_millis_at(row.end_nanos), row.end_nanos,
                   stages_[row.stage], classes_[row.request_class], outcome_of(row),
                   record::Histogram::micros_of(row.latency_nanos));
    if (row.service_nanos >= 0) fmt::format_to(to, "{}", record::Histogram::micros_of(row.service_nanos));
    out.push_back(',');
    if (row.status != 0) fmt::format_to(to, "{}", row.status);
    fmt::format_to(to, ",{}\n", error_of(row));
  }
  file_.write({out.data(), out.size()});
  if (file_.problem().empty()) {
    written_ += count;
    return;
  }
  lost_ += count;
  const std::lock_guard lock{mutex_};
  problem_ = file_.problem();
}

void RequestsCsv::stop() {
  stopping_.store(true, std::memory_order_release);
  if (writer_.joinable()) writer_.join();
}

void RequestsCsv::done(const record::RunResult&) {
  stop();
  write_what_is_there();
  if (lost_ > 0) problem_ = fmt::format("{} ({} rows are missing)", file_.problem(), lost_);
}

std::string RequestsCsv::problem() const {
  const std::lock_guard lock{mutex_};
  return problem_;
}

record::RequestRows RequestsCsv::rows() const {
  return {name_.string(), written_, lost_ + log_.dropped()};
}

}  // namespace heddle::report
