#include "loadgen/http/response.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include <boost/asio/buffer.hpp>

namespace heddle::http {

void Response::start_head() {
  parser_.emplace();
  parser_->header_limit(kHeadLimit);
  parser_->skip(true);  // it ends with the head
  scanned_ = line_start_ = 0;
}

void Response::reset(bool to_head) {
  to_head_ = to_head;
  head_.clear();
  chunks_ = {};
  body_ = Body::none;
  body_bytes_ = work_ = 0;
  start_head();
}

// Looks for the empty line that ends the head; complete leaves its end in scanned_. What cannot become a
// head is told at once: a server that speaks something else may wait for us.
Progress Response::find_head_end(std::span<const char> data) {
  constexpr std::string_view begin = "HTTP/1.";
  const auto known = std::min(begin.size(), data.size());
  if (std::string_view{data.data(), known} != begin.substr(0, known)) return Progress::malformed;
  while (scanned_ < data.size()) {
    const void* found = std::memchr(data.data() + scanned_, '\n', data.size() - scanned_);
    if (found == nullptr) break;
    const auto at = static_cast<std::size_t>(static_cast<const char*>(found) - data.data());
    if (data[at - 1] != '\r') return Progress::malformed;
    const bool empty_line = at == line_start_ + 1;
    work_ += static_cast<std::int64_t>(at + 1 - scanned_);
    scanned_ = line_start_ = at + 1;
    if (empty_line) return scanned_ <= kHeadLimit ? Progress::complete : Progress::malformed;
  }
  work_ += static_cast<std::int64_t>(data.size() - scanned_);
  scanned_ = data.size();
  return data.size() < kHeadLimit ? Progress::need_more : Progress::malformed;
}

Progress Response::parse_head(std::span<const char>& data) {
  if (const auto progress = find_head_end(data); progress != Progress::complete) return progress;
  boost::beast::error_code error;
  const auto used = parser_->put(boost::asio::buffer(data.data(), scanned_), error);
  if (error || used != scanned_) return Progress::malformed;
  data = data.subspan(used);
  // 100 Continue and its like announce the answer; 101 ends HTTP on this connection.
  if (parser_->status() / 100 != 1 || parser_->status() == 101) return start_body();
  start_head();
  return Progress::need_more;
}

// RFC 9112, 6.3.
Progress Response::start_body() {
  if (to_head_ || parser_->never_has_body()) return Progress::complete;
  if (parser_->chunked()) {
    body_ = Body::chunked;
  } else if (const auto length = parser_->content_length()) {
    left_ = *length;
    body_ = Body::by_length;
    if (left_ == 0) return Progress::complete;
  } else {
    body_ = Body::until_close;
  }
  return Progress::need_more;
}

Progress Response::parse_body(std::span<const char>& data) {
  work_ += static_cast<std::int64_t>(data.size());
  if (body_ == Body::chunked) return chunks_.feed(data);
  const auto size = body_ == Body::by_length ? std::min<std::uint64_t>(left_, data.size()) : data.size();
  data = data.subspan(size);
  body_bytes_ += static_cast<std::int64_t>(size);
  if (body_ == Body::until_close) return Progress::need_more;
  left_ -= size;
  return left_ == 0 ? Progress::complete : Progress::need_more;
}

// Consumes from the front of `data` all but the begin of a head.
Progress Response::parse(std::span<const char>& data) {
  while (!data.empty()) {
    const auto progress = parser_->is_header_done() ? parse_body(data) : parse_head(data);
    if (progress == Progress::malformed) return progress;
    if (progress == Progress::complete) return data.empty() ? Progress::complete : Progress::malformed;
    if (!parser_->is_header_done() && scanned_ == data.size()) break;  // its end has not come yet
  }
  return Progress::need_more;
}

Progress Response::feed(std::span<const char> data) {
  if (head_.empty()) {
    const auto progress = parse(data);
    if (progress == Progress::need_more) head_.assign(data.begin(), data.end());
    return progress;
  }
  head_.append(data.begin(), data.end());
  std::span<const char> all{head_};
  const auto progress = parse(all);
  if (progress == Progress::need_more) head_.erase(0, head_.size() - all.size());
  return progress;
}

Progress Response::finish() {
  return body_ == Body::until_close ? Progress::complete : Progress::malformed;
}

}  // namespace heddle::http
