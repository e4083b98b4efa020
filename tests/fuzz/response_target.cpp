// However an answer is cut, the same comes out of it; every piece lies in memory of its own, so that a
// sanitizer sees a read beyond its end.
#include "loadgen/http/response.hpp"
#include "loadgen/plan/draw.hpp"
#include "tests/fuzz/target.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace heddle::fuzz {
namespace {

enum class End : std::uint8_t { complete, closed, truncated, malformed };

struct Outcome {
  End end = End::truncated;
  int status = 0;
  std::int64_t body = 0;
  bool keep_alive = false;
  bool operator==(const Outcome&) const = default;
};

Outcome taken(const http::Response& response, End end) {
  return {end, response.status(), response.body_bytes(), response.keep_alive()};
}

// `next_size`: of the next piece, at least 1.
Outcome outcome_of(std::string_view bytes, bool to_head, const std::function<std::size_t()>& next_size) {
  http::Response response;
  response.reset(to_head);
  auto progress = http::Progress::need_more;
  while (!bytes.empty()) {
    if (progress == http::Progress::complete) return {End::malformed};
    const auto size = std::min(next_size(), bytes.size());
    const std::vector<char> piece(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    bytes.remove_prefix(size);
    progress = response.feed(piece);
    if (progress == http::Progress::malformed) return {End::malformed};
  }
  if (progress == http::Progress::complete) return taken(response, End::complete);
  return response.finish() == http::Progress::complete ? taken(response, End::closed) : Outcome{};
}

void check(std::string_view bytes, bool to_head) {
  const auto whole = outcome_of(bytes, to_head, [&] { return bytes.size(); });
  require(outcome_of(bytes, to_head, [] { return 1; }) == whole, "byte by byte it is the same answer");
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    std::uint64_t number = 0;
    const auto cut = [&] { return 1 + plan::draw(seed, bytes.size(), number++) % (3 + 10 * seed); };
    require(outcome_of(bytes, to_head, cut) == whole, "in pieces it is the same answer");
  }
  if (whole.end != End::complete && whole.end != End::closed) return;
  require(whole.status >= 0 && whole.status <= 999, "a status has three digits");
  require(whole.status / 100 != 1 || whole.status == 101, "an interim answer is not the final one");
  require(whole.body >= 0 && whole.body <= static_cast<std::int64_t>(bytes.size()), "a body came in");
  require(!to_head || whole.body == 0, "an answer to HEAD has no body");
  require(whole.end != End::closed || !whole.keep_alive, "a body until the close ends the connection");
}

}  // namespace
}  // namespace heddle::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heddle::fuzz::check(heddle::fuzz::text_of(data, size), false);
  heddle::fuzz::check(heddle::fuzz::text_of(data, size), true);
  return 0;
}
