// HdrHistogram's V2 encoding and its interval log, as its own readers take them.
#pragma once

#include "loadgen/record/listener.hpp"
#include "loadgen/report/output_file.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::report {

// ZigZag LEB128 of up to 9 bytes, the ninth taking 8 bits.
void append_zigzag(std::string& out, std::int64_t value);

// V2 payload with its header, not compressed. A run of n empty buckets is the one number -n.
// Overflows are not in it.
[[nodiscard]] std::string encode(const record::Histogram& histogram);

// encode(), deflated, in the V2 envelope, as Base64 text.
[[nodiscard]] std::string encode_compressed(const record::Histogram& histogram);

[[nodiscard]] std::string base64(std::string_view bytes);

// load.hlog: a line per second and tag, written at once. Measure stages: latency:NAME and service:NAME of the
// answered requests, waiting:NAME of those without an answer: how long they had waited, from due, at least.
// Warm-up: warmup-latency:NAME and warmup-service:NAME. Unit: microseconds, interval maximum in ms.
class HlogWriter final : public record::RunListener {
 public:
  // Throws std::runtime_error when the file cannot be opened.
  explicit HlogWriter(const std::filesystem::path& file) : file_{file} {}

  void started(const record::RunInfo& info) override;
  void connected(const record::ConnectionStats&, std::int64_t) override {}
  void stage_started(std::size_t, std::int64_t) override {}
  void stage_ended(std::size_t, std::int64_t) override {}
  void second(const record::Second& second) override;
  void done(const record::RunResult&) override {}
  [[nodiscard]] std::string problem() const override { return file_.problem(); }

 private:
  void line(std::string_view kind, std::string_view name, const record::Second& second,
            const record::Histogram& histogram);

  OutputFile file_;
  std::string lines_;  // of the second at hand
  record::RunInfo info_;
};

}  // namespace heddle::report
