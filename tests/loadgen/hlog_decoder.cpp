#include "tests/loadgen/hlog_decoder.hpp"

#include <stdexcept>
#include <zlib.h>

namespace heddle::testing {
namespace {

constexpr std::uint32_t kCookie = 0x1c849313;
constexpr std::uint32_t kCompressedCookie = 0x1c849314;
constexpr std::size_t kHeaderSize = 40;
// 2 digits need 256 sub-buckets; 1 us to 600 s then takes 23 buckets, of which all but the first use one
// half.
constexpr std::uint64_t kDigits = 2;
constexpr std::uint64_t kLowest = 1;
constexpr std::uint64_t kHighest = 600'000'000;
constexpr std::size_t kBuckets = 24 * 128;

std::uint64_t big_endian(std::string_view bytes, std::size_t at, std::size_t size) {
  if (at + size > bytes.size()) throw std::invalid_argument("a histogram that ends too early");
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

}  // namespace

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

std::vector<std::int64_t> decode(std::string_view bytes) {
  if (big_endian(bytes, 0, 4) != kCookie) throw std::invalid_argument("no V2 histogram");
  const auto size = big_endian(bytes, 4, 4);
  if (big_endian(bytes, 12, 4) != kDigits || big_endian(bytes, 16, 8) != kLowest ||
      big_endian(bytes, 24, 8) != kHighest) {
    throw std::invalid_argument("a histogram of another layout");
  }
  if (kHeaderSize + size > bytes.size()) throw std::invalid_argument("a histogram that ends too early");
  const auto payload = bytes.substr(kHeaderSize, size);
  std::vector<std::int64_t> counts(kBuckets, 0);
  std::size_t index = 0;
  for (std::size_t at = 0; at < payload.size();) {
    const auto number = read_zigzag(payload, at);
    const std::size_t buckets = number < 0 ? 0 - static_cast<std::size_t>(number) : 1;
    if (buckets > kBuckets - index) throw std::invalid_argument("a histogram of another layout");
    if (number > 0) counts[index] = number;
    index += buckets;
  }
  return counts;
}

std::vector<std::int64_t> decode_compressed(std::string_view text) {
  const auto bytes = from_base64(text);
  if (big_endian(bytes, 0, 4) != kCompressedCookie) throw std::invalid_argument("no compressed V2 histogram");
  const auto size = big_endian(bytes, 4, 4);
  if (8 + size > bytes.size()) throw std::invalid_argument("a histogram that ends too early");
  // A full histogram: at most 9 bytes a bucket.
  std::string plain(kHeaderSize + 9 * kBuckets, '\0');
  uLongf plain_size = plain.size();
  if (uncompress(reinterpret_cast<Bytef*>(plain.data()), &plain_size,
                 reinterpret_cast<const Bytef*>(bytes.data() + 8), size) != Z_OK) {
    throw std::invalid_argument("a damaged histogram");
  }
  return decode(std::string_view{plain}.substr(0, plain_size));
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

}  // namespace heddle::testing
