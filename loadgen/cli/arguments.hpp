// The words of the command line, sorted by option, before anybody asks what they mean.
#pragma once

#include "loadgen/cli/option_table.hpp"
#include "loadgen/plan/plan.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::load {

// Reading an option that is not in the table is a mistake of the program: std::logic_error. A value that is
// not accepted throws UsageError with option, found value and accepted values.
class Arguments {
 public:
  // --name VALUE, --name=VALUE, -n VALUE, -nVALUE; "--" ends the options. Names are not completed: --dur is
  // an error. Throws UsageError, also for an option that the command does not take or that stands there
  // twice.
  Arguments(int argc, const char* const* argv);

  [[nodiscard]] Command command() const { return command_; }
  // What is no option, without the name of the command.
  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }

  [[nodiscard]] bool has(std::string_view option) const;
  // Of an option that may be repeated; empty when it is not there.
  [[nodiscard]] std::vector<std::string> all(std::string_view option) const;
  [[nodiscard]] std::string text(std::string_view option, std::string_view fallback) const;
  [[nodiscard]] std::int64_t integer(std::string_view option, std::int64_t low, std::int64_t high,
                                     std::int64_t fallback) const;
  [[nodiscard]] double number(std::string_view option, double low, double high, double fallback) const;
  [[nodiscard]] plan::Nanos duration(std::string_view option, std::string_view fallback) const;
  // One of `accepted`; the first when it is not there.
  [[nodiscard]] std::string choice(std::string_view option, const std::vector<std::string>& accepted) const;
  // The first option given that describes the load, which --plan does completely; null when there is none.
  [[nodiscard]] const OptionSpec* first_beside_plan() const;

 private:
  // Takes the option at `word`, with its value from the same or the next word; returns how many it took.
  int take_option(int left, const char* const* word);
  void keep(const OptionSpec& option, std::string value);
  void settle_command();

  Command command_ = Command::run;
  std::map<std::string_view, std::vector<std::string>> values_;
  std::vector<std::string> words_;
};

}  // namespace heddle::load
