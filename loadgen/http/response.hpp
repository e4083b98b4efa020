// One response, read piece by piece. Parsing is Boost.Beast's; this adds what a client on a kept-alive
// connection needs: 1xx answers before the final one, a head that arrives in pieces, and the check that
// nothing follows the answer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <boost/beast/http/basic_parser.hpp>

namespace heddle::http {

// The largest response head, and the largest line between chunks, in bytes.
inline constexpr std::uint32_t kHeadLimit = 64 * 1024;

enum class Progress : std::uint8_t { need_more, complete, malformed };

// Keeps of an answer what a load generator looks at: status and body size.
class ResponseParser final : public boost::beast::http::basic_parser<false> {
 public:
  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] std::int64_t body_bytes() const { return body_bytes_; }

 private:
  using ErrorCode = boost::beast::error_code;
  using Text = boost::beast::string_view;

  void on_request_impl(boost::beast::http::verb, Text, Text, int, ErrorCode&) override {}
  void on_response_impl(int code, Text, int, ErrorCode&) override { status_ = code; }
  void on_field_impl(boost::beast::http::field, Text, Text, ErrorCode&) override {}
  void on_header_impl(ErrorCode&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, ErrorCode&) override {}
  std::size_t on_body_impl(Text body, ErrorCode&) override {
    body_bytes_ += static_cast<std::int64_t>(body.size());
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t, Text, ErrorCode&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text body, ErrorCode&) override {
    body_bytes_ += static_cast<std::int64_t>(body.size());
    return body.size();
  }
  void on_finish_impl(ErrorCode&) override {}

  int status_ = 0;
  std::int64_t body_bytes_ = 0;
};

class Response {
 public:
  // Makes ready for the next answer; `to_head`: it has no body whatever its header says.
  void reset(bool to_head);

  // Takes everything in `data`. Bytes after the end of the answer are malformed: nobody asked for them.
  [[nodiscard]] Progress feed(std::span<const char> data);
  // The server closed the connection: complete only for a body that ends that way.
  [[nodiscard]] Progress finish();

  // Valid when complete.
  [[nodiscard]] int status() const { return parser_->status(); }
  [[nodiscard]] bool keep_alive() const { return parser_->keep_alive(); }
  [[nodiscard]] std::int64_t body_bytes() const { return parser_->body_bytes(); }

 private:
  void start_parser();
  [[nodiscard]] Progress parse(std::span<const char>& data);

  std::optional<ResponseParser> parser_;
  std::string rest_;  // the begin of a head or of a chunk's line, until its end arrives
  bool to_head_ = false;
  bool begun_ = false;  // any byte since reset()
};

}  // namespace heddle::http
