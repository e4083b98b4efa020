#include "loadgen/http/chunks.hpp"

#include "loadgen/plan/token.hpp"

#include <algorithm>

namespace heddle::http {
namespace {

// -1: no hexadecimal digit.
int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

// RFC 9110, 5.5: what a value may hold.
bool is_text(char c) {
  return c == '\t' || (static_cast<unsigned char>(c) >= ' ' && c != 127);
}

}  // namespace

bool Chunks::go(bool allowed, State next) {
  state_ = next;
  return allowed;
}

bool Chunks::take_size(char byte) {
  const int digit = hex_digit(byte);
  if (digit < 0) return state_ == State::size && take_behind_size(byte);
  if (left_ > UINT64_MAX >> 4) return false;
  left_ = left_ << 4 | static_cast<std::uint64_t>(digit);
  return go(true, State::size);
}

bool Chunks::take_behind_size(char byte) {
  if (byte == '\r') return go(true, State::size_lf);
  if (state_ == State::extension) return is_text(byte);
  return byte == ';' ? go(true, State::extension) : go(is_blank(byte), State::blank);
}

bool Chunks::take_trailer(char byte) {
  switch (state_) {
    case State::trailer_begin:
      if (byte == '\r') return go(true, State::end_lf);
      if (is_blank(byte)) return go(any_trailer_, State::trailer_value);  // folded (RFC 9112, 5.2)
      any_trailer_ = true;
      return go(plan::is_token_char(byte), State::trailer_name);
    case State::trailer_name:
      return byte == ':' ? go(true, State::trailer_value) : plan::is_token_char(byte);
    case State::trailer_value:
      return byte == '\r' ? go(true, State::trailer_lf) : is_text(byte);
    case State::trailer_lf:
      return go(byte == '\n', State::trailer_begin);
    default:
      complete_ = byte == '\n';
      return complete_;
  }
}

// False: malformed.
bool Chunks::take(char byte) {
  if (++line_ > kHeadLimit) return false;
  switch (state_) {
    case State::size_begin:
    case State::size:
      return take_size(byte);
    case State::blank:
    case State::extension:
      return take_behind_size(byte);
    case State::size_lf:
      if (left_ > 0) return go(byte == '\n', State::data);
      return go(byte == '\n', State::trailer_begin);
    case State::data_cr:
      return go(byte == '\r', State::data_lf);
    case State::data_lf:
      line_ = 0;
      return go(byte == '\n', State::size_begin);
    default:
      return take_trailer(byte);
  }
}

Progress Chunks::feed(std::span<const char>& data) {
  while (!data.empty()) {
    if (state_ == State::data) {
      const auto size = std::min<std::uint64_t>(left_, data.size());
      data = data.subspan(size);
      left_ -= size;
      body_bytes_ += static_cast<std::int64_t>(size);
      if (left_ == 0) state_ = State::data_cr;
      continue;
    }
    const bool allowed = take(data.front());
    data = data.subspan(1);
    if (!allowed) return Progress::malformed;
    if (complete_) return Progress::complete;
  }
  return Progress::need_more;
}

}  // namespace heddle::http
