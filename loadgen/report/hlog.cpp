#include "loadgen/report/hlog.hpp"

#include "loadgen/report/text.hpp"

#include <bit>
#include <stdexcept>
#include <zlib.h>

#include <fmt/format.h>

namespace heddle::report {
namespace {

using record::Histogram;

// HdrHistogram, "V2 encoding": base cookies, with 0x10 for one-byte-and-more words.
constexpr std::uint32_t kCookie = 0x1c849303 | 0x10;
constexpr std::uint32_t kCompressedCookie = 0x1c849304 | 0x10;

void append_big_endian(std::string& out, std::uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    out.push_back(static_cast<char>(value >> shift & 0xff));
}

std::string payload_of(const Histogram& histogram) {
  std::string payload;
  if (histogram.count() == 0) return payload;
  const auto& counts = histogram.counts();
  const int limit = Histogram::index_of(histogram.max()) + 1;
  for (int i = 0; i < limit;) {
    const auto count = counts[static_cast<std::size_t>(i)];
    int zeros = 0;
    while (count == 0 && i + zeros < limit && counts[static_cast<std::size_t>(i + zeros)] == 0) ++zeros;
    append_zigzag(payload, zeros > 0 ? -zeros : count);
    i += zeros > 0 ? zeros : 1;
  }
  return payload;
}

}  // namespace

void append_zigzag(std::string& out, std::int64_t value) {
  auto bits = static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
  for (int i = 0; i < 8; ++i) {
    if (bits < 0x80) {
      out.push_back(static_cast<char>(bits));
      return;
    }
    out.push_back(static_cast<char>((bits & 0x7f) | 0x80));
    bits >>= 7;
  }
  out.push_back(static_cast<char>(bits));
}

std::string encode(const Histogram& histogram) {
  const auto payload = payload_of(histogram);
  std::string out;
  append_big_endian(out, kCookie, 4);
  append_big_endian(out, payload.size(), 4);
  append_big_endian(out, 0, 4);  // normalising index offset
  append_big_endian(out, Histogram::kSignificantDigits, 4);
  append_big_endian(out, static_cast<std::uint64_t>(Histogram::kLowestMicros), 8);
  append_big_endian(out, static_cast<std::uint64_t>(Histogram::kHighestMicros), 8);
  append_big_endian(out, std::bit_cast<std::uint64_t>(1.0), 8);  // integer to double conversion ratio
  return out + payload;
}

std::string encode_compressed(const Histogram& histogram) {
  const auto plain = encode(histogram);
  uLongf size = compressBound(plain.size());
  std::string deflated(size, '\0');
  if (compress(reinterpret_cast<Bytef*>(deflated.data()), &size, reinterpret_cast<const Bytef*>(plain.data()),
               plain.size()) != Z_OK) {
    throw std::runtime_error("zlib cannot compress a histogram");
  }
  std::string out;
  append_big_endian(out, kCompressedCookie, 4);
  append_big_endian(out, size, 4);
  return base64(out + deflated.substr(0, size));
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t word = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      word = word << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    const auto used = std::min<std::size_t>(3, bytes.size() - i) + 1;
    for (std::size_t j = 0; j < 4; ++j) out.push_back(j < used ? alphabet[word >> (18 - 6 * j) & 63] : '=');
  }
  return out;
}

void HlogWriter::started(const record::RunInfo& info) {
  info_ = info;
  const auto start = static_cast<double>(info.anchor.epoch_millis) / 1000;
  std::string head =
      fmt::format("#[Histogram log format version 1.3]\n#[BaseTime: {:.3f} (seconds since epoch)]\n", start);
  head +=
      fmt::format("#[StartTime: {:.3f} (seconds since epoch), {}]\n", start, utc(info.anchor.epoch_millis));
  head += "#[Unit: microseconds; Interval_Max: milliseconds]\n";
  head += "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n";
  file_.write(head);
}

void HlogWriter::line(std::string_view kind, std::string_view name, const record::Second& second,
                      const Histogram& histogram) {
  if (histogram.count() == 0) return;
  lines_ += fmt::format("Tag={}:{},{:.3f},{:.3f},{:.3f},{}\n", kind, name,
                        static_cast<double>(second.start_nanos - info_.anchor.monotonic_nanos) / 1e9,
                        static_cast<double>(second.end_nanos - second.start_nanos) / 1e9,
                        static_cast<double>(histogram.max()) / 1000, encode_compressed(histogram));
}

void HlogWriter::second(const record::Second& second) {
  lines_.clear();
  for (std::size_t c = 0; c < info_.classes.size(); ++c) {
    record::Cell measured;
    record::Cell warmup;
    for (std::size_t s = 0; s < info_.stages.size(); ++s) {
      const auto* cell = second.data->find(s, c);
      if (cell != nullptr) (info_.stage_measured[s] ? measured : warmup).merge(*cell);
    }
    line("latency", info_.classes[c], second, measured.latency.answered);
    line("service", info_.classes[c], second, measured.service.answered);
    line("waiting", info_.classes[c], second, measured.latency.waiting);
    line("warmup-latency", info_.classes[c], second, warmup.latency.answered);
    line("warmup-service", info_.classes[c], second, warmup.service.answered);
  }
  if (!lines_.empty()) file_.write(lines_);
}

}  // namespace heddle::report
