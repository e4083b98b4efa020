// Every option of heddle-load, once: the parser, --help, the completion and the checks of the documentation
// all read this table.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace heddle::load {

enum class Command : std::uint8_t { run, find_max, calibrate };

enum class Group : std::uint8_t { load, connections, request, judging, search, output, general };
inline constexpr std::size_t kGroups = 7;
[[nodiscard]] std::string_view name_of(Group group);

// Which commands take an option, as bits.
enum Users : std::uint8_t {
  kRun = 1,
  kFindMax = 2,
  kCalibrate = 4,
  kEvery = kRun | kFindMax | kCalibrate,
};

struct OptionSpec {
  std::string_view name;   // without the dashes
  char letter = 0;         // of the short form; 0 = none
  std::string_view value;  // what stands after it, in help; empty = a switch
  Group group = Group::general;
  std::uint8_t users = kRun;
  bool with_plan = false;  // may stand beside --plan, which describes the load itself completely
  bool repeats = false;
  // What the value completes to: "@file", "@folder", words with a space between two, or nothing.
  std::string_view completes;
  std::string_view text;  // for help: what it does, unit, default
};

[[nodiscard]] std::span<const OptionSpec> option_table();

// Null when there is none.
[[nodiscard]] const OptionSpec* find_option(std::string_view name);
[[nodiscard]] const OptionSpec* find_option(char letter);

[[nodiscard]] bool takes(const OptionSpec& option, Command command);

}  // namespace heddle::load
