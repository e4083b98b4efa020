#include "loadgen/http/response.hpp"

#include <limits>

#include <boost/asio/buffer.hpp>

namespace heddle::http {

void Response::start_parser() {
  parser_.emplace();
  parser_->eager(true);
  parser_->header_limit(kHeadLimit);
  parser_->body_limit(boost::none);
  parser_->skip(to_head_);
}

void Response::reset(bool to_head) {
  to_head_ = to_head;
  begun_ = false;
  rest_.clear();
  start_parser();
}

// Consumes from the front of `data` what the parser takes.
Progress Response::parse(std::span<const char>& data) {
  while (!data.empty()) {
    boost::beast::error_code error;
    const auto used = parser_->put(boost::asio::buffer(data.data(), data.size()), error);
    data = data.subspan(used);
    if (error == boost::beast::http::error::need_more) return Progress::need_more;
    if (error) return Progress::malformed;
    if (!parser_->is_done()) {
      if (used == 0) return Progress::need_more;
      continue;
    }
    // 100 Continue and its like announce the answer; 101 would end HTTP on this connection.
    if (parser_->status() >= 200 || parser_->status() == 101) {
      return data.empty() ? Progress::complete : Progress::malformed;
    }
    start_parser();
  }
  return Progress::need_more;
}

Progress Response::feed(std::span<const char> data) {
  if (data.empty()) return Progress::need_more;
  begun_ = true;
  if (rest_.empty()) {
    const auto progress = parse(data);
    if (progress == Progress::need_more) rest_.assign(data.begin(), data.end());
    return progress;
  }
  rest_.append(data.begin(), data.end());
  std::span<const char> all{rest_};
  const auto progress = parse(all);
  if (progress != Progress::need_more) return progress;
  rest_.erase(0, rest_.size() - all.size());
  return rest_.size() > kHeadLimit ? Progress::malformed : Progress::need_more;
}

Progress Response::finish() {
  if (!begun_ || !rest_.empty() || !parser_->got_some()) return Progress::malformed;
  boost::beast::error_code error;
  parser_->put_eof(error);
  return !error && parser_->is_done() ? Progress::complete : Progress::malformed;
}

}  // namespace heddle::http
