// Which URLs are taken, and what their Host header is.
#include "loadgen/plan/url.hpp"

#include "loadgen/http/request.hpp"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::plan {
namespace {

using ::testing::HasSubstr;

std::string message_of(std::string_view text) {
  try {
    (void)parse_url(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

struct Form {
  const char* text;
  const char* host;
  int port;
  const char* path;
  const char* authority;
};

class UrlForms : public ::testing::TestWithParam<Form> {};

TEST_P(UrlForms, AreSplit) {
  const auto& form = GetParam();
  const auto url = parse_url(form.text);
  EXPECT_EQ(url.host, form.host);
  EXPECT_EQ(url.port, form.port);
  EXPECT_EQ(url.path, form.path);
  EXPECT_EQ(url.authority(), form.authority);
  EXPECT_EQ(url.socket_path, "");
  EXPECT_EQ(url.bracketed, std::string_view{form.text}.find('[') != std::string_view::npos);
}

INSTANTIATE_TEST_SUITE_P(
    All, UrlForms,
    ::testing::Values(
        Form{"http://example.org", "example.org", 80, "/", "example.org"},
        Form{"http://example.org:80/x", "example.org", 80, "/x", "example.org"},
        Form{"http://127.0.0.1:8080/a?b=c:d#e", "127.0.0.1", 8080, "/a?b=c:d", "127.0.0.1:8080"},
        Form{"http://h?q", "h", 80, "/?q", "h"}, Form{"http://h#f", "h", 80, "/", "h"},
        Form{"http://h/a?b@c", "h", 80, "/a?b@c", "h"}, Form{"http://[::1]", "::1", 80, "/", "[::1]"},
        Form{"http://[::1]:8080/x", "::1", 8080, "/x", "[::1]:8080"},
        Form{"http://[2001:db8::A]:80", "2001:db8::A", 80, "/", "[2001:db8::A]"},
        Form{"http://[::ffff:127.0.0.1]:81", "::ffff:127.0.0.1", 81, "/", "[::ffff:127.0.0.1]:81"},
        Form{"http://[fe80::1%25eth0]:81/", "fe80::1%eth0", 81, "/", "[fe80::1]:81"},
        Form{"http://[fe80::1%eth0]", "fe80::1%eth0", 80, "/", "[fe80::1]"},
        Form{"http://[fe80::1%252]", "fe80::1%2", 80, "/", "[fe80::1]"},
        Form{"http://[fe80::1%25a%2Db]", "fe80::1%a-b", 80, "/", "[fe80::1]"}));

struct UnixForm {
  const char* text;
  const char* socket;
  const char* path;
};

class UnixForms : public ::testing::TestWithParam<UnixForm> {};

TEST_P(UnixForms, AreSplit) {
  const auto url = parse_url(GetParam().text);
  EXPECT_EQ(url.socket_path, GetParam().socket);
  EXPECT_EQ(url.path, GetParam().path);
  EXPECT_EQ(url.authority(), "localhost");
}

INSTANTIATE_TEST_SUITE_P(All, UnixForms,
                         ::testing::Values(UnixForm{"unix:/run/x.sock", "/run/x.sock", "/"},
                                           UnixForm{"unix:/run/x.sock:/", "/run/x.sock", "/"},
                                           UnixForm{"unix:/run/x.sock:/a/b?c=:/d#e", "/run/x.sock",
                                                    "/a/b?c=:/d"},
                                           UnixForm{"unix:/run/a:b.sock:/x", "/run/a:b.sock", "/x"},
                                           UnixForm{"unix:/my dir/x:/y", "/my dir/x", "/y"}));

struct BadUrl {
  const char* text;
  const char* why;
};

class BadUrls : public ::testing::TestWithParam<BadUrl> {};

TEST_P(BadUrls, AreQuotedWithTheReasonAndWhatIsAccepted) {
  const auto message = message_of(GetParam().text);
  EXPECT_THAT(message, HasSubstr("'" + std::string{GetParam().text} + "'"));
  EXPECT_THAT(message, HasSubstr(GetParam().why));
  EXPECT_THAT(message, HasSubstr("accepted: http://HOST[:PORT][/PATH], unix:/SOCKET[:/PATH]"));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadUrls,
    ::testing::Values(BadUrl{"", "begin"}, BadUrl{"h:80", "begin"}, BadUrl{"https://h", "https"},
                      BadUrl{"http://", "no host"}, BadUrl{"http://:80", "no host"},
                      BadUrl{"http://h:0", "port"}, BadUrl{"http://h:65536", "port"},
                      BadUrl{"http://h:", "port"}, BadUrl{"http://h:-1", "port"},
                      BadUrl{"http://h:8x", "port"}, BadUrl{"http://u@h", "user"},
                      BadUrl{"http://a b", "white space"}, BadUrl{"http://a/\r\nX: y", "control"},
                      BadUrl{"http://::1/", "brackets"}, BadUrl{"http://fe80::1:80/", "brackets"},
                      BadUrl{"http://[::1", "closing"}, BadUrl{"http://[::1]x", "after"},
                      BadUrl{"http://[host]/", "IPv6"}, BadUrl{"http://[]/", "IPv6"},
                      BadUrl{"http://[127.0.0.1]/", "IPv6"}, BadUrl{"http://[fe80::1%]/", "zone"},
                      BadUrl{"http://[fe80::1%25]/", "zone"}, BadUrl{"http://[fe80::1%25a%2]/", "zone's"},
                      BadUrl{"http://[fe80::1%25a%zz]/", "zone's"},
                      BadUrl{"http://[fe80::1%25a%00]/", "zone's"}, BadUrl{"unix:", "begins with /"},
                      BadUrl{"unix:x.sock", "begins with /"}, BadUrl{"unix::/x", "begins with /"},
                      BadUrl{"unix:/a\nb", "control"}, BadUrl{"unix:/a:/x y", "white space"}));

TEST(HostHeader, FollowsTheUrl) {
  const RequestSpec get{.name = "get", .headers = {}, .body_file = {}, .expect_body_bytes = {}};
  const auto host_of = [&](std::string_view text) {
    const auto request = http::build_request(get, parse_url(text), "", true);
    const auto at = request.find("Host: ");
    return request.substr(at, request.find("\r\n", at) - at);
  };
  EXPECT_EQ(host_of("http://127.0.0.1:8080"), "Host: 127.0.0.1:8080");
  EXPECT_EQ(host_of("http://127.0.0.1:80"), "Host: 127.0.0.1");
  EXPECT_EQ(host_of("http://[::1]:8080"), "Host: [::1]:8080");
  EXPECT_EQ(host_of("http://[fe80::1%25eth0]"), "Host: [fe80::1]");
  EXPECT_EQ(host_of("unix:/run/x.sock:/y"), "Host: localhost");
  // A TCP URL that is sent through a unix socket keeps its own.
  auto url = parse_url("http://example.org:81/");
  url.socket_path = "/run/x.sock";
  EXPECT_THAT(http::build_request(get, url, "", true), HasSubstr("Host: example.org:81\r\n"));
}

}  // namespace
}  // namespace heddle::plan
