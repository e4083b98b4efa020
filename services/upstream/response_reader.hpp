// Reads one HTTP/1.1 response, fed by whoever waits for the bytes.
#pragma once

#include "services/upstream/reply.hpp"

#include <cstddef>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/flat_static_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/system/error_code.hpp>

namespace heddle::upstream {

// Knows no socket: the four models differ in how they wait, not in how they read. One object per response.
class ResponseReader {
 public:
  ResponseReader();

  // Where the next bytes go.
  [[nodiscard]] boost::asio::mutable_buffer space();

  // Takes what the last read returned. True: the exchange is over, with `error` empty or telling why not.
  // A close by the peer (eof) ends a body without a length; anywhere else it is an error.
  [[nodiscard]] bool on_read(std::size_t bytes, boost::system::error_code& error);

  [[nodiscard]] bool started() const { return parser_.got_some(); }
  // The connection may carry another request.
  [[nodiscard]] bool reusable() const {
    return parser_.is_done() && parser_.keep_alive() && buffer_.size() == 0;
  }
  [[nodiscard]] Reply take();

 private:
  boost::beast::flat_static_buffer<4096> buffer_;  // also the largest header that is accepted
  boost::beast::http::response_parser<boost::beast::http::string_body> parser_;
};

}  // namespace heddle::upstream
