// RESTinio 0.6.16 to 0.7.x. The only file that may know which.
#pragma once

#include <restinio/all.hpp>

#if !defined(RESTINIO_USE_BOOST_ASIO)
#error "RESTinio must be built on Boost.Asio: the models and the server share one io_context"
#endif

#include "services/api/message.hpp"

#include <string_view>

namespace heddle::servers {

[[nodiscard]] inline api::Method method_of(const restinio::http_request_header_t& header) {
  const auto method = header.method();
  if (method == restinio::http_method_get()) return api::Method::get;
  if (method == restinio::http_method_head()) return api::Method::head;
  if (method == restinio::http_method_post()) return api::Method::post;
  if (method == restinio::http_method_put()) return api::Method::put;
  if (method == restinio::http_method_delete()) return api::Method::delete_;
  if (method == restinio::http_method_patch()) return api::Method::patch;
  if (method == restinio::http_method_options()) return api::Method::options;
  return api::Method::other;
}

// 0.6 returns a string_view-like of its own in C++14 mode, std's in C++17 mode; 0.7 std's.
[[nodiscard]] inline std::string_view field_of(const restinio::http_request_header_t& header,
                                               restinio::http_field_t field) {
  const auto found = header.opt_value_of(field);
  return found ? std::string_view(found->data(), found->size()) : std::string_view();
}

}  // namespace heddle::servers
