#include "loadgen/http/response.hpp"
#include "tests/microbench/kernels.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace heddle::microbench {
namespace {

// The head as the services send it.
std::string head(const std::string& framing) {
  return fmt::format(
      "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nServer: heddle\r\nContent-Type: application/json\r\n{}"
      "\r\n\r\n",
      framing);
}

std::string with_length(std::size_t bytes) {
  return head(fmt::format("Content-Length: {}", bytes)) + std::string(bytes, 'x');
}

// Four chunks of 400 bytes.
std::string chunked() {
  std::string answer = head("Transfer-Encoding: chunked");
  for (int i = 0; i < 4; ++i) answer += fmt::format("{:x}\r\n{}\r\n", 400, std::string(400, 'x'));
  return answer + "0\r\n\r\n";
}

// One whole answer in one piece, as one read of the engine gives it.
class Parse final : public Kernel {
 public:
  explicit Parse(std::string answer) : answer_{std::move(answer)} {}
  void run(std::int64_t times) override {
    for (std::int64_t i = 0; i < times; ++i) {
      response_.reset(false);
      if (response_.feed(answer_) != http::Progress::complete || response_.status() != 200) {
        throw std::logic_error("the answer was not read as a whole");
      }
    }
  }

 private:
  std::string answer_;
  http::Response response_;
};

}  // namespace

std::unique_ptr<Kernel> response_small() {
  return std::make_unique<Parse>(with_length(13));
}
std::unique_ptr<Kernel> response_length() {
  return std::make_unique<Parse>(with_length(1600));
}
std::unique_ptr<Kernel> response_chunked() {
  return std::make_unique<Parse>(chunked());
}

}  // namespace heddle::microbench
