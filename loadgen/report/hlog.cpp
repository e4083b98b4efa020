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
constexpr std::size_t kHeaderSize = 40;

void append_big_endian(std::string& out, std::uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    out.push_back(static_cast<char>(value >> shift & 0xff));
}

std::uint64_t big_endian(std::string_view bytes, std::size_t at, std::size_t size) {
  if (at + size > bytes.size()) throw std::invalid_argument("a histogram that ends too early");
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
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

std::int64_t read_zigzag(std::string_view bytes, std::size_t& at) {
  std::uint64_t bits = 0;
  for (int i = 0; i < 9; ++i) {
    if (at >= bytes.size()) throw std::invalid_argument("a number that ends too early");
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    if (i == 8) {
      bits |= static_cast<std::uint64_t>(byte) << 56;
      break;
    }
    bits |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
    if ((byte & 0x80) == 0) break;
  }
  return static_cast<std::int64_t>(bits >> 1) ^ -static_cast<std::int64_t>(bits & 1);
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

Histogram decode(std::string_view bytes) {
  if (big_endian(bytes, 0, 4) != kCookie) throw std::invalid_argument("no V2 histogram");
  const auto size = big_endian(bytes, 4, 4);
  if (big_endian(bytes, 12, 4) != Histogram::kSignificantDigits ||
      big_endian(bytes, 16, 8) != static_cast<std::uint64_t>(Histogram::kLowestMicros) ||
      big_endian(bytes, 24, 8) != static_cast<std::uint64_t>(Histogram::kHighestMicros)) {
    throw std::invalid_argument("a histogram of another layout");
  }
  if (kHeaderSize + size > bytes.size()) throw std::invalid_argument("a histogram that ends too early");
  const auto payload = bytes.substr(kHeaderSize, size);
  Histogram histogram;
  std::int64_t index = 0;
  for (std::size_t at = 0; at < payload.size();) {
    const auto number = read_zigzag(payload, at);
    if (number < -Histogram::kSize) throw std::invalid_argument("a histogram of another layout");
    if (number <= 0) {
      index += number == 0 ? 1 : -number;
      continue;
    }
    if (index >= Histogram::kSize) throw std::invalid_argument("a histogram of another layout");
    histogram.add_at(static_cast<int>(index++), number);
  }
  return histogram;
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

Histogram decode_compressed(std::string_view text) {
  const auto bytes = from_base64(text);
  if (big_endian(bytes, 0, 4) != kCompressedCookie) throw std::invalid_argument("no compressed V2 histogram");
  const auto size = big_endian(bytes, 4, 4);
  if (8 + size > bytes.size()) throw std::invalid_argument("a histogram that ends too early");
  // A full histogram: at most 9 bytes a bucket.
  std::string plain(kHeaderSize + 9 * Histogram::kSize, '\0');
  uLongf plain_size = plain.size();
  if (uncompress(reinterpret_cast<Bytef*>(plain.data()), &plain_size,
                 reinterpret_cast<const Bytef*>(bytes.data() + 8), size) != Z_OK) {
    throw std::invalid_argument("a damaged histogram");
  }
  return decode(std::string_view{plain}.substr(0, plain_size));
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

std::string from_base64(std::string_view text) {
  const auto value_of = [](char c) -> std::uint32_t {
    if (c >= 'A' && c <= 'Z') return static_cast<std::uint32_t>(c - 'A');
    if (c >= 'a' && c <= 'z') return static_cast<std::uint32_t>(c - 'a' + 26);
    if (c >= '0' && c <= '9') return static_cast<std::uint32_t>(c - '0' + 52);
    if (c == '+') return 62;
    if (c == '/') return 63;
    throw std::invalid_argument("no Base64");
  };
  std::string out;
  std::uint32_t word = 0;
  int bits = 0;
  for (const char c : text.substr(0, text.find('='))) {
    word = word << 6 | value_of(c);
    bits += 6;
    if (bits >= 8) out.push_back(static_cast<char>(word >> (bits -= 8) & 0xff));
  }
  return out;
}

HlogWriter::HlogWriter(const std::filesystem::path& file)
    : file_{std::fopen(file.c_str(), "we"), &std::fclose} {
  if (!file_) throw std::runtime_error(fmt::format("cannot write {}", file.string()));
}

void HlogWriter::started(const record::RunInfo& info) {
  info_ = info;
  const auto start = static_cast<double>(info.anchor.epoch_millis) / 1000;
  fmt::print(file_.get(), "#[Histogram log format version 1.3]\n#[BaseTime: {:.3f} (seconds since epoch)]\n",
             start);
  fmt::print(file_.get(), "#[StartTime: {:.3f} (seconds since epoch), {}]\n", start,
             utc(info.anchor.epoch_millis));
  fmt::print(file_.get(), "#[Unit: microseconds; Interval_Max: milliseconds]\n");
  fmt::print(file_.get(),
             "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n");
  std::fflush(file_.get());
}

void HlogWriter::line(std::string_view kind, std::string_view name, const record::Second& second,
                      const Histogram& histogram) {
  if (histogram.count() == 0) return;
  fmt::print(file_.get(), "Tag={}:{},{:.3f},{:.3f},{:.3f},{}\n", kind, name,
             static_cast<double>(second.start_nanos - info_.anchor.monotonic_nanos) / 1e9,
             static_cast<double>(second.end_nanos - second.start_nanos) / 1e9,
             static_cast<double>(histogram.max()) / 1000, encode_compressed(histogram));
}

void HlogWriter::second(const record::Second& second) {
  for (std::size_t c = 0; c < info_.classes.size(); ++c) {
    record::Cell measured;
    record::Cell warmup;
    for (std::size_t s = 0; s < info_.stages.size(); ++s) {
      const auto* cell = second.data->find(s, c);
      if (cell != nullptr) (info_.stage_measured[s] ? measured : warmup).merge(*cell);
    }
    line("latency", info_.classes[c], second, measured.latency.answered);
    line("service", info_.classes[c], second, measured.service.answered);
    line("warmup-latency", info_.classes[c], second, warmup.latency.answered);
    line("warmup-service", info_.classes[c], second, warmup.service.answered);
  }
  std::fflush(file_.get());
}

}  // namespace heddle::report
