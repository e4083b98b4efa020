#include "services/upstream/client_options.hpp"

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace heddle::upstream {
namespace {

TEST(ClientOptions, TakesHostAndPortFromTheUrl) {
  const ClientOptions v4 = client_options_for("http://127.0.0.1:8081/");
  EXPECT_EQ(v4.socket.peer.address().to_string(), "127.0.0.1");
  EXPECT_EQ(v4.socket.peer.port(), 8081);
  EXPECT_EQ(v4.host, "127.0.0.1:8081");
  const ClientOptions v6 = client_options_for("http://[::1]:9000");
  EXPECT_TRUE(v6.socket.peer.address().is_v6());
  EXPECT_EQ(v6.host, "[::1]:9000");
  EXPECT_EQ(client_options_for("http://127.0.0.1").socket.peer.port(), 80);
}

TEST(ClientOptions, HasTheAncestorsLimits) {
  const ClientOptions options = client_options_for("http://127.0.0.1:1");
  EXPECT_EQ(options.connections, 65'000U);
  EXPECT_EQ(options.pending, 65'000U);
  EXPECT_EQ(options.socket.connect_timeout.count(), 20'000);
  EXPECT_EQ(options.socket.response_timeout.count(), 60'000);
}

TEST(ClientOptions, RefusesWhatItCannotUse) {
  for (const char* url :
       {"", "127.0.0.1:80", "https://127.0.0.1", "http://", "http://:80", "http://127.0.0.1:0",
        "http://127.0.0.1:65536", "http://127.0.0.1:http", "http://127.0.0.1/path"}) {
    try {
      static_cast<void>(client_options_for(url));
      FAIL() << url;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find("--upstream-url"), std::string::npos) << url;
    }
  }
}

}  // namespace
}  // namespace heddle::upstream
