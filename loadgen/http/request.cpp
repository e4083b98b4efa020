#include "loadgen/http/request.hpp"

#include <algorithm>
#include <stdexcept>

#include <boost/beast/core/string.hpp>
#include <boost/json.hpp>
#include <fmt/format.h>

namespace heddle::http {
namespace {

bool has_header(const plan::RequestSpec& spec, std::string_view name) {
  return std::any_of(spec.headers.begin(), spec.headers.end(), [name](const auto& header) {
    return boost::beast::iequals({header.first.data(), header.first.size()}, {name.data(), name.size()});
  });
}

bool is_json(std::string_view file_name) {
  return file_name.ends_with(".json");
}

// Numbers and texts stay as they were written; only the space between them goes.
std::string without_white_space(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  bool in_text = false;
  bool escaped = false;
  for (const char c : json) {
    if (in_text) {
      in_text = escaped || c != '"';
      escaped = !escaped && c == '\\';
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      continue;
    } else {
      in_text = c == '"';
    }
    out.push_back(c);
  }
  return out;
}

}  // namespace

std::string build_request(const plan::RequestSpec& spec, const plan::Url& target, std::string_view body,
                          bool keep_alive) {
  const std::string prefix =
      target.path == "/" ? "" : target.path.substr(0, target.path.find_last_not_of('/') + 1);
  std::string out = fmt::format("{} {}{} HTTP/1.1\r\n", spec.method, prefix, spec.path);
  if (!has_header(spec, "Host")) out += fmt::format("Host: {}\r\n", target.authority());
  for (const auto& [name, value] : spec.headers) out += fmt::format("{}: {}\r\n", name, value);
  if (!keep_alive && !has_header(spec, "Connection")) out += "Connection: close\r\n";
  const bool sends_body =
      !body.empty() || spec.method == "POST" || spec.method == "PUT" || spec.method == "PATCH";
  if (!body.empty() && is_json(spec.body_file) && !has_header(spec, "Content-Type")) {
    out += "Content-Type: application/json\r\n";
  }
  if (sends_body) out += fmt::format("Content-Length: {}\r\n", body.size());
  out += "\r\n";
  out += body;
  return out;
}

std::string body_to_send(std::string_view content, std::string_view file_name) {
  if (!is_json(file_name)) return std::string{content};
  boost::json::error_code error;
  (void)boost::json::parse(boost::json::string_view{content.data(), content.size()}, error);
  if (error) throw std::invalid_argument(fmt::format("{}: no valid JSON: {}", file_name, error.message()));
  return without_white_space(content);
}

}  // namespace heddle::http
