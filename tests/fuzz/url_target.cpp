// An accepted URL, written again from its parts, gives the same parts.
#include "loadgen/plan/url.hpp"
#include "tests/fuzz/target.hpp"

#include <stdexcept>

#include <fmt/format.h>

namespace heddle::fuzz {
namespace {

// RFC 6874: the percent sign of a zone as %25, and everything in the zone escaped.
std::string host_of(const plan::Url& url) {
  if (!url.bracketed) return url.host;
  const auto percent = url.host.find('%');
  std::string out = "[" + url.host.substr(0, percent);
  if (percent != std::string::npos) {
    out += "%25";
    for (const char c : url.host.substr(percent + 1)) {
      out += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return out + "]";
}

std::string written(const plan::Url& url) {
  if (!url.socket_path.empty()) return fmt::format("unix:{}:{}", url.socket_path, url.path);
  return fmt::format("http://{}:{}{}", host_of(url), url.port, url.path);
}

void check(const plan::Url& url) {
  require(!url.host.empty() && url.port != 0, "there is a host and a port");
  require(url.path.starts_with('/'), "the path begins with /");
  require(url.path.find_first_of(std::string_view{" \r\n\0#", 5}) == std::string::npos,
          "the path fits a head");
  require(url.authority().find_first_of(std::string_view{" \r\n\0", 4}) == std::string::npos,
          "the authority fits a head");
  require(plan::parse_url(written(url)) == url, "written again it is the same URL");
}

}  // namespace
}  // namespace heddle::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    heddle::fuzz::check(heddle::plan::parse_url(heddle::fuzz::text_of(data, size)));
  } catch (const std::invalid_argument&) {
    return 0;
  }
  return 0;
}
