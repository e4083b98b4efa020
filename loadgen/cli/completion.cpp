// The completion script for bash, made from the table of options.
#include "loadgen/cli/option_table.hpp"
#include "loadgen/cli/values.hpp"
#include "loadgen/options.hpp"

#include <fmt/format.h>

namespace heddle::load {
namespace {

// compgen and mapfile are bash's own (4.0 or newer); the package bash-completion is not needed.
constexpr std::string_view kHead = R"(# bash completion for heddle-load; made by heddle-load --completion bash
_heddle_load() {
  local current=${COMP_WORDS[COMP_CWORD]} previous='' command=run word
  ((COMP_CWORD > 0)) && previous=${COMP_WORDS[COMP_CWORD - 1]}
  for word in "${COMP_WORDS[@]:1}"; do
    case $word in
      find-max) command=find-max ;;
      --calibrate) command=calibrate ;;
    esac
  done
  COMPREPLY=()
  case $previous in
)";

constexpr std::string_view kMiddle = R"(  esac
  case $command in
)";

constexpr std::string_view kTail = R"(  esac
}
complete -F _heddle_load heddle-load
)";

// What compgen makes the words from; empty when they are not known.
std::string source_of_words(std::string_view completes) {
  if (completes.empty()) return {};
  if (completes == "@file") return "-f";
  if (completes == "@folder") return "-d";
  return fmt::format("-W '{}'", completes);
}

// How the value of an option is completed.
std::string values_line(const OptionSpec& option) {
  const auto generate = source_of_words(option.completes);
  // Without a known value there is nothing to offer, above all no other option.
  if (generate.empty()) return "return ;;\n";
  return fmt::format("mapfile -t COMPREPLY < <(compgen {} -- \"$current\"); return ;;\n", generate);
}

std::string options_line(Command command, std::string_view more) {
  std::string words{more};
  for (const auto& option : option_table()) {
    const bool offered = takes(option, command) || (command == Command::run && option.name == "calibrate");
    if (offered) words += fmt::format("{}--{}", words.empty() ? "" : " ", option.name);
  }
  return fmt::format("mapfile -t COMPREPLY < <(compgen -W '{}' -- \"$current\") ;;\n", words);
}

}  // namespace

std::string completion_script(const std::string& shell) {
  if (shell != "bash") refuse("completion", shell, "bash");
  std::string out{kHead};
  for (const auto& option : option_table()) {
    if (option.value.empty()) continue;
    const auto letter = option.letter == 0 ? std::string{} : fmt::format("-{} | ", option.letter);
    out += fmt::format("    {}--{}) {}", letter, option.name, values_line(option));
  }
  out += kMiddle;
  out += fmt::format("    find-max) {}", options_line(Command::find_max, ""));
  out += fmt::format("    calibrate) {}", options_line(Command::calibrate, ""));
  out += fmt::format("    *) {}", options_line(Command::run, "find-max"));
  return out + std::string{kTail};
}

}  // namespace heddle::load
