#include "services/upstream/response_reader.hpp"

#include <boost/asio/error.hpp>
#include <boost/beast/http/error.hpp>

namespace heddle::upstream {

ResponseReader::ResponseReader() {
  parser_.eager(true);
  parser_.body_limit(1024 * 1024);
}

boost::asio::mutable_buffer ResponseReader::space() {
  // Full only when a header is longer than the buffer: the parser then reports header_limit by itself.
  return buffer_.prepare(buffer_.max_size() - buffer_.size());
}

bool ResponseReader::on_read(std::size_t bytes, boost::system::error_code& error) {
  if (error == boost::asio::error::eof && parser_.got_some()) {
    error = {};
    parser_.put_eof(error);
    return true;
  }
  if (error) return true;
  buffer_.commit(bytes);
  buffer_.consume(parser_.put(buffer_.data(), error));
  if (error == boost::beast::http::error::need_more) {
    error = {};
    if (buffer_.size() == buffer_.max_size()) error = boost::beast::http::error::header_limit;
  }
  return error || parser_.is_done();
}

Reply ResponseReader::take() {
  auto response = parser_.release();
  return {Failure::none, static_cast<int>(response.result_int()), std::move(response.body()), {}};
}

}  // namespace heddle::upstream
