// From URLs to addresses, sources and places.
#include "loadgen/engine/connection.hpp"
#include "loadgen/engine/host_check.hpp"
#include "loadgen/engine/resolve.hpp"
#include "loadgen/engine/routes.hpp"
#include "loadgen/engine/sources.hpp"
#include "tests/loadgen/fake_server.hpp"
#include "tests/loadgen/tiny_server.hpp"

#include <filesystem>
#include <map>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::engine {
namespace {

using heddle::testing::closed_port;
using heddle::testing::literal;
using heddle::testing::TinyServer;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr plan::Nanos kLimit = 300 * plan::kMillisecond;

std::vector<std::string> texts(const std::vector<Address>& addresses) {
  std::vector<std::string> out;
  for (const auto& address : addresses) out.push_back(address.text);
  return out;
}

plan::Plan plan_for(const std::vector<std::string>& urls, std::int64_t connections) {
  plan::Plan plan;
  for (const auto& url : urls) plan.targets.push_back(plan::parse_url(url));
  plan.connections = connections;
  plan.stages = {{"measure", plan::StageKind::measure, plan::kSecond, plan::ConstantRate{10}}};
  plan.requests.resize(1);
  plan.requests[0].name = "get";
  return plan;
}

// A name server that knows the names "two" (127.0.0.1 and ::1), "local" (127.0.0.1) and "six" (::1).
std::vector<Address> names(const plan::Url& url) {
  std::vector<Address> answers;
  if (url.host == "two" || url.host == "local") answers.push_back(literal("127.0.0.1", url.port));
  if (url.host == "two" || url.host == "six") answers.push_back(literal("::1", url.port));
  return answers;
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

TEST(ResolveAll, GivesEachAnswerOnceIpv4First) {
  const auto answers = resolve_all(plan::parse_url("http://localhost:8080"));
  EXPECT_EQ(answers.front().text, "127.0.0.1:8080");
  for (const auto& a : answers) {
    EXPECT_EQ(std::count_if(answers.begin(), answers.end(), [&](auto& b) { return same_address(a, b); }), 1);
  }
}

TEST(ResolveAll, TakesLiteralsOfBothFamilies) {
  EXPECT_THAT(texts(resolve_all(plan::parse_url("http://[::1]:81"))), ElementsAre("[::1]:81"));
  EXPECT_THAT(texts(resolve_all(plan::parse_url("http://127.0.0.9"))), ElementsAre("127.0.0.9:80"));
  // lo always has number 1.
  EXPECT_THAT(texts(resolve_all(plan::parse_url("http://[fe80::1%25lo]:81"))),
              ElementsAre("[fe80::1%lo]:81"));
}

TEST(ResolveAll, NamesTheHostItDoesNotFind) {
  try {
    (void)resolve_all(plan::parse_url("http://nowhere.invalid"));
    FAIL() << "resolved";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("'nowhere.invalid'"));
  }
}

TEST(UnixAddress, HasALimitThatIsNamed) {
  EXPECT_EQ(resolve_all(plan::parse_url("unix:/run/x.sock:/y")).front().text, "unix:/run/x.sock");
  EXPECT_EQ(unix_address(std::string(107, 'a')).text.size(), 5U + 107);
  const auto message = refusal([] { (void)unix_address(std::string(108, 'a')); });
  EXPECT_THAT(message, HasSubstr("at most 107 bytes, found 108"));
}

TEST(SourceAddress, IsALiteralOfEitherFamily) {
  EXPECT_EQ(source_address("127.0.0.9").text, "127.0.0.9");
  EXPECT_EQ(source_address("::1").family(), AF_INET6);
  for (const char* bad : {"", "localhost", "127.1", "1", "[::1]", "127.0.0.1:80", "::1::", "300.0.0.1"}) {
    EXPECT_THAT(refusal([&] { (void)source_address(bad); }), HasSubstr("'" + std::string{bad} + "'")) << bad;
  }
  EXPECT_THAT(refusal([] { (void)listed_sources({"::1", "127.0.0.2", "0::1"}); }), HasSubstr("twice"));
}

TEST(TryConnect, TellsWhoAnswersAndWhoRefuses) {
  const TinyServer server{literal("127.0.0.1", 0)};
  const auto errors = try_connect({literal("127.0.0.1", server.port()), literal("127.0.0.2", server.port()),
                                   unix_address("/nonexistent/x.sock")},
                                  kLimit);
  EXPECT_THAT(errors, ElementsAre(0, ECONNREFUSED, ENOENT));
}

TEST(TryConnect, GivesUpAfterItsLimit) {
  // Nobody accepts here: one connection fills a backlog of 0, even closed; the next gets no answer.
  const auto any = literal("127.0.0.1", 0);
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(bind(listener, any.get(), any.size), 0);
  ASSERT_EQ(listen(listener, 0), 0);
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  getsockname(listener, reinterpret_cast<sockaddr*>(&bound), &size);
  const auto target = make_address(reinterpret_cast<const sockaddr*>(&bound), size, true);
  EXPECT_THAT(try_connect({target}, plan::kSecond), ElementsAre(0));
  EXPECT_THAT(try_connect({target}, kLimit), ElementsAre(ETIMEDOUT));
  close(listener);
}

TEST(StartConnect, NeverConnectsToItself) {
  // The kernel may choose the target's own port as the source when nobody listens there; here it is told to.
  for (const std::string host : {"127.0.0.1", "::1"}) {
    if (!heddle::testing::can_bind(host)) continue;
    const auto nobody = literal(host, closed_port());
    const auto opened = start_connect(nobody, &nobody, {});
    EXPECT_EQ(opened.fd, -1);
    EXPECT_EQ(opened.error, ECONNREFUSED);
  }
}

TEST(Answers, ThoseThatFailAreLeftOutWhileOneAnswers) {
  const std::vector<Address> two{literal("127.0.0.1", 80), literal("::1", 80)};
  std::vector<std::string> warnings;
  EXPECT_THAT(texts(those_that_answer("name", two, {0, ECONNREFUSED}, warnings)),
              ElementsAre("127.0.0.1:80"));
  EXPECT_THAT(warnings, ElementsAre("name: its address [::1]:80 is left out: Connection refused"));
  warnings.clear();
  EXPECT_EQ(those_that_answer("name", two, {ETIMEDOUT, ECONNREFUSED}, warnings).size(), 2U);
  EXPECT_EQ(those_that_answer("name", two, {0, 0}, warnings).size(), 2U);
  EXPECT_THAT(warnings, IsEmpty());
}

TEST(MakeSetup, LeavesOutAnAnswerThatRefuses) {
  const TinyServer server{literal("127.0.0.1", 0)};
  const auto url = "http://two:" + std::to_string(server.port());
  const auto setup = make_setup(plan_for({url}, 4), {""}, names);
  EXPECT_THAT(texts(setup.targets), ElementsAre("127.0.0.1:" + std::to_string(server.port())));
  EXPECT_THAT(setup.warnings, ElementsAre(HasSubstr("[::1]")));
  EXPECT_EQ(setup.requests.size(), 1U);
}

TEST(MakeSetup, KeepsAllAnswersWhenNobodyListens) {
  const auto url = "http://two:" + std::to_string(closed_port());
  const auto setup = make_setup(plan_for({url}, 4), {""}, names);
  EXPECT_EQ(setup.targets.size(), 2U);
  EXPECT_EQ(setup.requests.size(), 2U);
  EXPECT_THAT(setup.warnings, IsEmpty());
}

TEST(MakeSetup, AUrlWithOneAnswerIsNotTried) {
  const TinyServer server{literal("127.0.0.1", 0)};
  const auto url = "http://local:" + std::to_string(server.port());
  const auto nobody = "http://six:" + std::to_string(closed_port());
  const auto setup = make_setup(plan_for({url, nobody}, 4), {""}, names);
  EXPECT_EQ(setup.targets.size(), 2U);
  EXPECT_EQ(server.accepted(), 0);
}

TEST(MakeSetup, AutomaticSourcesAreForIpv4LoopbackOnly) {
  const auto setup = make_setup(
      plan_for({"http://local:1", "http://six:1", "unix:/nonexistent"}, 9), {""},
      [](const plan::Url& url) { return url.socket_path.empty() ? names(url) : resolve_all(url); });
  EXPECT_THAT(texts(setup.sources), ElementsAre("127.0.0.2"));
  EXPECT_THAT(setup.sources_of, ElementsAre(ElementsAre(0U), IsEmpty(), IsEmpty()));
  EXPECT_EQ(place_of(setup, 3).source, 0U);
  EXPECT_EQ(place_of(setup, 4).source, kNone);
  EXPECT_EQ(place_of(setup, 5).source, kNone);
}

TEST(MakeSetup, AutomaticSourcesAreEnoughAndNeverATarget) {
  const auto setup = make_setup(plan_for({"http://127.0.0.1:1", "http://127.0.0.3:1"}, 60'000), {""});
  const auto loads = target_loads(setup);
  ASSERT_EQ(loads.size(), 2U);
  const auto ports = read_port_range().usable();
  for (const auto& load : loads) {
    EXPECT_EQ(load.connections, 30'000);
    EXPECT_EQ(load.sources, static_cast<std::int64_t>(setup.sources.size()));
    EXPECT_LE(load.per_source, ports / 4 + 1);
  }
  EXPECT_THAT(texts(setup.sources), Contains("127.0.0.2"));
  EXPECT_THAT(texts(setup.sources), Each(::testing::Not(::testing::AnyOf("127.0.0.1", "127.0.0.3"))));
  const auto many = texts(loopback_sources(400, {}));
  EXPECT_THAT(many, Each(::testing::Not("127.0.0.255")));
  EXPECT_THAT(many, Contains("127.0.1.2"));
}

TEST(MakeSetup, SourcesOfAListServeTheirFamily) {
  auto plan = plan_for({"http://local:1", "http://six:1"}, 8);
  plan.auto_sources = false;
  plan.sources = {"127.0.0.2", "::1", "127.0.0.3"};
  const auto setup = make_setup(plan, {""}, names);
  EXPECT_THAT(setup.sources_of, ElementsAre(ElementsAre(0U, 2U), ElementsAre(1U)));
}

TEST(MakeSetup, ATargetWithoutASourceOfItsFamilyIsRefusedWithBoth) {
  auto plan = plan_for({"http://six:81"}, 8);
  plan.auto_sources = false;
  plan.sources = {"127.0.0.2", "127.0.0.3"};
  const auto message = refusal([&] { (void)make_setup(plan, {""}, names); });
  EXPECT_THAT(message, HasSubstr("127.0.0.2, 127.0.0.3"));
  EXPECT_THAT(message, HasSubstr("six ([::1]:81)"));
}

TEST(MakeSetup, AnAnswerWithoutASourceIsLeftOutWhenAnotherHasOne) {
  auto plan = plan_for({"http://two:81"}, 8);
  plan.auto_sources = false;
  plan.sources = {"127.0.0.2"};
  const auto setup = make_setup(plan, {""}, names);
  EXPECT_THAT(texts(setup.targets), ElementsAre("127.0.0.1:81"));
  EXPECT_THAT(setup.warnings, ElementsAre(HasSubstr("[::1]:81 is left out: no address of its family")));
}

TEST(MakeSetup, ASourceOfAnotherHostIsRefused) {
  auto plan = plan_for({"http://127.0.0.1:1"}, 1);
  plan.auto_sources = false;
  plan.sources = {"192.0.2.1"};  // documentation only (RFC 5737)
  EXPECT_THAT(refusal([&] { (void)checked_setup(plan, {""}); }), HasSubstr("'192.0.2.1'"));
}

// Two URLs, one with two answers, and two sources: plain remainders would never use half of the pairs.
TEST(Places, EveryPairOfAnswerAndSourceGetsItsShare) {
  auto setup = make_setup(plan_for({"http://127.0.0.1:1"}, 1), {""});
  setup.targets.assign(3, setup.targets.front());
  setup.answers = {{0, 1}, {1, 2}};
  setup.sources_of = {{0, 1}, {0, 1}, {0, 1}};
  std::map<std::pair<int, int>, int> pairs;
  for (std::size_t i = 0; i < 80; ++i) {
    const auto place = place_of(setup, i);
    ++pairs[{place.target, static_cast<int>(place.source)}];
  }
  const std::map<std::pair<int, int>, int> even{{{0, 0}, 20}, {{0, 1}, 20}, {{1, 0}, 10},
                                                {{1, 1}, 10}, {{2, 0}, 10}, {{2, 1}, 10}};
  EXPECT_EQ(pairs, even);
  EXPECT_THAT(spread(setup, 80), ElementsAre(40, 20, 20));
  EXPECT_THAT(spread(setup, 7), ElementsAre(4, 2, 1));
}

TEST(TargetLoads, AnAddressOfSeveralUrlsCountsOnce) {
  auto plan = plan_for({"http://127.0.0.1:1/a", "http://127.0.0.1:1/b", "unix:/nonexistent"}, 7);
  plan.auto_sources = false;
  plan.sources = {"127.0.0.2", "127.0.0.3"};
  plan.keep_alive = false;
  const auto loads = target_loads(make_setup(plan, {""}));
  ASSERT_EQ(loads.size(), 2U);
  EXPECT_EQ(loads[0].connections, 3 + 2);
  EXPECT_EQ(loads[0].per_source, 2 + 1);
  EXPECT_EQ(loads[0].opened_at_once, 5);
  EXPECT_NEAR(loads[0].new_per_second, 10.0 * 5 / 7, 1e-9);
  EXPECT_TRUE(loads[0].local);
  // No ports for unix sockets.
  EXPECT_EQ(loads[1].connections, 2);
  EXPECT_EQ(loads[1].per_source, 0);
  EXPECT_EQ(loads[1].new_per_second, 0);
}

TEST(TargetLoads, NewConnectionsComeFromTheHighestRate) {
  auto plan = plan_for({"http://127.0.0.1:1"}, 1);
  plan.stages.push_back({"ramp", plan::StageKind::measure, plan::kSecond, plan::RateRamp{5, 60}});
  EXPECT_EQ(new_connections_per_second(plan), 0);
  plan.requests_per_connection = 4;
  EXPECT_EQ(new_connections_per_second(plan), 15);
  plan.keep_alive = false;
  EXPECT_EQ(new_connections_per_second(plan), 60);
  plan.connect_ramp = 10;
  EXPECT_EQ(target_loads(make_setup(plan, {""})).front().opened_at_once, 0);
}

TEST(Budgets, PortsOfAnExplicitSourceAreCounted) {
  auto plan = plan_for({"http://127.0.0.1:1"}, plan::kMaxConnections);
  plan.auto_sources = false;
  plan.sources = {"127.0.0.2"};
  auto setup = make_setup(plan, {""});
  EXPECT_THROW(ensure_ports(setup), NotMeasurable);
  setup = make_setup(plan_for({"http://[::1]:1"}, plan::kMaxConnections), {""});
  EXPECT_THROW(ensure_ports(setup), NotMeasurable);
  setup = make_setup(plan_for({"unix:/nonexistent"}, plan::kMaxConnections), {""});
  EXPECT_NO_THROW(ensure_ports(setup));
}

TEST(Budgets, DescriptorsOfAllConnectionsAreCounted) {
  auto plan = plan_for({"http://127.0.0.1:1"}, 2'000'000'000);
  auto setup = make_setup(plan, {""});
  try {
    ensure_descriptors(setup);
    FAIL() << "two thousand million descriptors";
  } catch (const NotMeasurable& error) {
    EXPECT_THAT(error.what(), HasSubstr("2000000000 connections need 20000000"));
    EXPECT_THAT(error.what(), HasSubstr("the limit of a table is"));
  }
}

}  // namespace
}  // namespace heddle::engine
