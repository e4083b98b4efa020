// The chunked transfer coding (RFC 9112, section 7.1), read piece by piece and thrown away: only its size and
// its end matter here. Extensions and trailers are passed over; each line, and all trailers together, may be
// kHeadLimit bytes long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle::http {

// The largest response head, the largest line between chunks, and the most trailers, in bytes.
inline constexpr std::uint32_t kHeadLimit = 64 * 1024;

enum class Progress : std::uint8_t { need_more, complete, malformed };

class Chunks {
 public:
  // Takes bytes off the front of `data`: all of them, or those up to the end of the body.
  [[nodiscard]] Progress feed(std::span<const char>& data);
  // Sum of the chunks so far, without sizes, extensions and trailers.
  [[nodiscard]] std::int64_t body_bytes() const { return body_bytes_; }

 private:
  enum class State : std::uint8_t {
    size_begin,  // the first digit must come
    size,
    blank,  // behind the size: some servers pad it
    extension,
    size_lf,
    data,
    data_cr,
    data_lf,
    trailer_begin,  // of a line
    trailer_name,
    trailer_value,
    trailer_lf,
    end_lf,
  };

  [[nodiscard]] bool take(char byte);
  [[nodiscard]] bool take_size(char byte);
  [[nodiscard]] bool take_behind_size(char byte);
  [[nodiscard]] bool take_trailer(char byte);
  [[nodiscard]] bool go(bool allowed, State next);

  State state_ = State::size_begin;
  bool complete_ = false;
  bool any_trailer_ = false;
  std::uint32_t line_ = 0;  // bytes of this line; of all trailers
  std::uint64_t left_ = 0;  // of this chunk
  std::int64_t body_bytes_ = 0;
};

}  // namespace heddle::http
