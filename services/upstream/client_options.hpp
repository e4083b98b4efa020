// From a URL to the options of an upstream client.
#pragma once

#include "services/upstream/reply.hpp"

#include <string_view>

namespace heddle::upstream {

// Fills peer and host from "http://HOST[:PORT]". Resolves a name once, blocking: for start-up only. Throws
// std::invalid_argument that says what is wrong with the URL.
[[nodiscard]] ClientOptions client_options_for(std::string_view url);

}  // namespace heddle::upstream
