// One response, read piece by piece: interim answers (1xx) before the final one, a head that arrives in
// pieces, the body by its length, and the check that nothing follows. What comes out is the same however the
// bytes are cut.
//
// Heads are parsed by Boost.Beast, which sees whole ones only: given a part, it finds faults sooner or later
// depending on where that ended, and its limit counts from there. Where RFC 9112 leaves a choice:
// - a line ends with CR LF; a bare LF or CR is malformed (2.2 allows both readings);
// - the space behind the status code is required, the reason may be empty (4);
// - a folded header line is one line with a space (5.2); space before a colon is malformed (5.1);
// - Transfer-Encoding together with Content-Length is malformed, so are two lengths that differ (6.3);
// - an encoding whose last one is not chunked ends with the connection (6.3);
// - Transfer-Encoding in HTTP/1.0 is obeyed, but the connection is not used again (6.1), nor is it after 101;
// - bytes behind the end of the answer are malformed: nobody asked for them (6.3).
#pragma once

#include "loadgen/http/chunks.hpp"

#include <optional>
#include <span>
#include <string>

#include <boost/beast/http/basic_parser.hpp>

namespace heddle::http {

// Keeps of a head what says how the body ends and whether the connection can be used again.
class HeadParser final : public boost::beast::http::basic_parser<false> {
 public:
  [[nodiscard]] int status() const { return status_; }
  // No body follows, whatever the header says (RFC 9112, 6.3, rule 1).
  [[nodiscard]] bool never_has_body() const { return status_ / 100 == 1 || status_ == 204 || status_ == 304; }
  // Of the head alone: a body that ends with the connection ends it anyway.
  [[nodiscard]] bool allows_reuse() const {
    const bool foreign = status_ == 101 || (encoded_ && version_ < 11);
    return keep_alive() && !foreign;
  }

 private:
  using ErrorCode = boost::beast::error_code;
  using Text = boost::beast::string_view;

  void on_request_impl(boost::beast::http::verb, Text, Text, int, ErrorCode&) override {}
  void on_response_impl(int code, Text, int version, ErrorCode&) override {
    status_ = code;
    version_ = version;
  }
  void on_field_impl(boost::beast::http::field name, Text, Text, ErrorCode& error) override {
    if (name == boost::beast::http::field::transfer_encoding) encoded_ = true;
    if (name == boost::beast::http::field::content_length) has_length_ = true;
    // Beast refuses the two together only when the encoding is chunked.
    if (encoded_ && has_length_) error = boost::beast::http::error::bad_transfer_encoding;
  }
  void on_header_impl(ErrorCode&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, ErrorCode&) override {}
  std::size_t on_body_impl(Text, ErrorCode&) override { return 0; }
  void on_chunk_header_impl(std::uint64_t, Text, ErrorCode&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text, ErrorCode&) override { return 0; }
  void on_finish_impl(ErrorCode&) override {}

  int status_ = 0;
  int version_ = 0;  // 10 or 11
  bool encoded_ = false;
  bool has_length_ = false;
};

class Response {
 public:
  // Makes ready for the next answer; `to_head`: it has no body whatever its header says.
  void reset(bool to_head);

  // Takes everything in `data`. Bytes after the end of the answer are malformed.
  [[nodiscard]] Progress feed(std::span<const char> data);
  // The server closed the connection: complete only for a body that ends that way.
  [[nodiscard]] Progress finish();

  // Valid when complete.
  [[nodiscard]] int status() const { return parser_->status(); }
  [[nodiscard]] bool keep_alive() const { return body_ != Body::until_close && parser_->allows_reuse(); }
  [[nodiscard]] std::int64_t body_bytes() const {
    return body_ == Body::chunked ? chunks_.body_bytes() : body_bytes_;
  }

  // Bytes that were looked at since reset(), each as often as it was: the work that an answer has cost.
  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  enum class Body : std::uint8_t { none, by_length, chunked, until_close };

  void start_head();
  [[nodiscard]] Progress parse(std::span<const char>& data);
  [[nodiscard]] Progress find_head_end(std::span<const char> data);
  [[nodiscard]] Progress parse_head(std::span<const char>& data);
  [[nodiscard]] Progress start_body();
  [[nodiscard]] Progress parse_body(std::span<const char>& data);

  std::optional<HeadParser> parser_;
  std::string head_;            // the begin of a head, until its end arrives
  std::size_t scanned_ = 0;     // of the head: no line ends behind this
  std::size_t line_start_ = 0;  // of the head: where its last line begins
  Chunks chunks_;
  std::uint64_t left_ = 0;  // of a body by length
  std::int64_t body_bytes_ = 0;
  std::int64_t work_ = 0;
  Body body_ = Body::none;
  bool to_head_ = false;
};

}  // namespace heddle::http
