// The answers that need no I/O.
#include "services/api/call.hpp"
#include "services/api/json.hpp"
#include "services/api/writer.hpp"

namespace heddle::api {

Response epoch_millis_response(std::chrono::system_clock::time_point now) {
  Response response{.status = 200, .content_type = kJson, .body = {}, .allow = {}};
  append_integer(response.body,
                 std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count());
  return response;
}

Response movies_response(const std::vector<Movie>& movies) {
  return {.status = 200, .content_type = kJson, .body = to_json(movies), .allow = {}};
}

Response health_response(std::string_view approach) {
  Response response{
      .status = 200, .content_type = kJson, .body = R"({"status":"up","approach":)", .allow = {}};
  append_string(response.body, approach);
  response.body += '}';
  return response;
}

Response problem(int status, std::string_view detail) {
  Response response{.status = status, .content_type = kProblemJson, .body = {}, .allow = {}};
  response.body += R"({"type":"about:blank","title":)";
  append_string(response.body, reason_phrase(status));
  response.body += R"(,"status":)";
  append_integer(response.body, status);
  response.body += R"(,"detail":)";
  append_string(response.body, detail);
  response.body += '}';
  return response;
}

// Reason phrases of RFC 9110 section 15.
std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 500:
      return "Internal Server Error";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Error";
  }
}

}  // namespace heddle::api
