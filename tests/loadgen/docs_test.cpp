// docs/loadgen.md holds the options, keys and classes of the code: no more and no less.
#include "loadgen/commands/search_report.hpp"
#include "loadgen/options.hpp"
#include "loadgen/report/load_json.hpp"
#include "tests/loadgen/command_line.hpp"

#include <map>
#include <set>
#include <sstream>

#include <boost/algorithm/string/replace.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>

namespace heddle {
namespace {

namespace json = boost::json;
using heddle::testing::content;
using heddle::testing::FakeServer;
using Keys = std::set<std::string>;
using Then = FakeServer::Then;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

// The texts in `...` of a table row's first cell.
Keys keys_in(const std::string& row) {
  Keys out;
  const auto cell = row.substr(1, row.find('|', 1) - 1);
  for (std::size_t at = 0; (at = cell.find('`', at)) != std::string::npos;) {
    const auto end = cell.find('`', at + 1);
    out.insert(cell.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return out;
}

// What stands in the tables under "<!-- keys: NAME -->", by name. The head row is none of them.
std::map<std::string, Keys> documented() {
  constexpr std::string_view mark = "<!-- keys: ";
  std::map<std::string, Keys> out;
  std::string name;
  int row = 0;
  for (const auto& line : lines_of(content(HEDDLE_LOAD_DOCS))) {
    if (line.starts_with(mark)) {
      name = line.substr(mark.size(), line.find(" -->") - mark.size());
      row = 0;
    } else if (!name.empty() && line.starts_with('|')) {
      if (row++ >= 2) out[name].merge(keys_in(line));
    } else {
      name.clear();
    }
  }
  return out;
}

Keys keys_of(const json::value& value) {
  Keys out;
  for (const auto& member : value.as_object()) out.insert(member.key());
  return out;
}

std::string table_text(std::string_view text) {
  return boost::algorithm::replace_all_copy(std::string{text}, "|", "\\|");
}

TEST(DocumentedOptions, AreThoseOfHelp) {
  const auto text = content(HEDDLE_LOAD_DOCS);
  const auto begin = text.find("<!-- options -->");
  const auto end = text.find("<!-- end -->");
  ASSERT_NE(end, std::string::npos);
  Keys rows;
  for (const auto& line : lines_of(text.substr(begin, end - begin))) {
    if (line.starts_with("| `")) rows.insert(line);
  }
  Keys expected;
  for (const auto& option : load::option_table()) {
    std::string name = option.letter == 0 ? "--" : std::string{"-"} + option.letter + ", --";
    name += option.name;
    if (!option.value.empty()) name += fmt::format(" {}", option.value);
    expected.insert(fmt::format("| `{}` | {} |", table_text(name), table_text(option.text)));
  }
  EXPECT_EQ(rows, expected);
}

class Documentation : public heddle::testing::CommandLine {
 protected:
  static void expect_documented(const std::string& name, const json::value& value) {
    const auto all = documented();
    ASSERT_TRUE(all.contains(name)) << "docs/loadgen.md has no table with the mark <!-- keys: " << name
                                    << " -->";
    EXPECT_EQ(all.at(name), keys_of(value)) << "docs/loadgen.md, keys: " << name;
  }
};

TEST_F(Documentation, ListsTheKeysOfLoadJson) {
  FakeServer server{heddle::testing::hello};
  const auto outcome =
      run({"-c", "2", "-r", "100", "-d", "300ms", "-w", "50ms", "--slo", "errors=1%", "--out",
           result_folder(), "--record-requests", folder_ / "rows.csv", server.url()});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto root = load_json();
  expect_documented("load.json", root);
  for (const char* key : {"generator", "throughput", "littlesLaw", "connections", "requestLog"}) {
    expect_documented(key, root.at(key));
  }
  expect_documented("generator.threads[]", root.at("generator").at("threads").at(0));
  expect_documented("slo[]", root.at("slo").at(0));
  expect_documented("stages[]", root.at("stages").at(0));
  expect_documented("stages[]", root.at("window"));
  expect_documented("stages[].classes[]", root.at("window").at("classes").at(0));
  for (const char* key : {"latencyMillis", "serviceMillis", "firstByteMillis"}) {
    expect_documented("distribution", root.at("window").at(key));
  }
  expect_documented("distribution", root.at("connections").at("connectMillis"));
  // The objects within are described in words.
  EXPECT_EQ(keys_of(root.at("anchor")), (Keys{"epochMillis", "monotonicNanos"}));
  EXPECT_EQ(keys_of(root.at("generator").at("lagMicros")), (Keys{"p50", "p99", "max", "count"}));
  EXPECT_EQ(keys_of(root.at("generator").at("turnMicros")), (Keys{"p50", "p99", "max", "count"}));
  for (const auto& source : root.at("connections").at("bySource").as_object()) {
    EXPECT_EQ(keys_of(source.value()), (Keys{"asked", "opened", "peak", "lost", "reopened"}));
  }
}

TEST_F(Documentation, ListsTheKeysOfACeiling) {
  record::RunResult result;
  result.generator.ceiling.emplace();
  expect_documented("generator.ceiling", report::load_json(result).at("generator").at("ceiling"));
}

TEST_F(Documentation, ListsTheClassesOfErrors) {
  Keys expected;
  for (std::size_t i = 0; i < record::kTransportErrors; ++i) {
    const auto error = static_cast<record::TransportError>(i);
    expected.insert(error == record::TransportError::other ? "other:ENAME" : std::string{name_of(error)});
  }
  auto all = documented();
  // Its second column gives an example of a name, which is no class.
  EXPECT_EQ(all["transportErrors"], expected);
  const auto text = content(HEDDLE_LOAD_DOCS);
  for (int code : {0, 1, 2, 3, 130}) {
    EXPECT_THAT(text, ::testing::HasSubstr("\n| " + std::to_string(code) + " | "));
  }
}

TEST_F(Documentation, ListsTheKeysOfFindMax) {
  FakeServer server{heddle::testing::hello};
  const auto outcome =
      run({"find-max", "-c", "1", "--from", "40", "--to", "40", "--repeats", "1", "--step-time", "100ms",
           "-w", "0", "--pause", "0", "--slo", "errors=50%,ok-rate=1/s", "--json", server.url()});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err << outcome.out;
  const auto root = json::parse(outcome.out).as_object();
  expect_documented("find-max.json", root);
  expect_documented("find-max.json steps[]", root.at("steps").at(0));
  expect_documented("find-max.json result", root.at("result"));
  expect_documented("slo[]", root.at("steps").at(0).at("slo").at(0));
  EXPECT_EQ(keys_of(root.at("settings")),
            (Keys{"from", "to", "precisionPercent", "stepMillis", "warmupMillis", "pauseMillis", "repeats"}));
  EXPECT_EQ(keys_of(root.at("result").at("achieved")), (Keys{"min", "median", "max"}));
}

}  // namespace
}  // namespace heddle
