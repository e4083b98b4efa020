// The bytes of a request, built once per request type and target.
#pragma once

#include "loadgen/plan/plan.hpp"
#include "loadgen/plan/url.hpp"

#include <string>
#include <string_view>

namespace heddle::http {

// Head and body in one piece, for one write. Host and, without keep-alive, Connection: close are added
// unless given; a body gets Content-Type: application/json when it is one. Content-Length is always this
// function's: check_plan() refuses one in `spec`.
[[nodiscard]] std::string build_request(const plan::RequestSpec& spec, const plan::Url& target,
                                        std::string_view body, bool keep_alive);

// What is sent of a body file: JSON (by file name) without its white space, everything else as it is. Throws
// std::invalid_argument when a .json file holds no valid JSON.
[[nodiscard]] std::string body_to_send(std::string_view content, std::string_view file_name);

}  // namespace heddle::http
