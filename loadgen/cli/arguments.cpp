#include "loadgen/cli/arguments.hpp"

#include "loadgen/cli/values.hpp"
#include "loadgen/options.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

namespace heddle::load {
namespace {

// How many letters must be added, dropped or changed to get from one to the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto above = row[j];
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above + 1, row[j - 1] + 1, changed});
      diagonal = above;
    }
  }
  return row.back();
}

[[noreturn]] void refuse_unknown(std::string_view word, std::string_view name) {
  constexpr std::size_t most = 2;
  std::string nearest;
  std::size_t best = most + 1;
  for (const auto& option : option_table()) {
    const bool begins = name.size() > 1 && option.name.starts_with(name);
    const auto apart = begins ? 1 : distance(name, option.name);
    if (apart >= best) continue;
    best = apart;
    nearest = option.name;
  }
  throw UsageError(fmt::format("{}: not known{}; see heddle-load --help", word,
                               nearest.empty() ? "" : fmt::format(", is it --{}?", nearest)));
}

std::string_view command_text(Command command) {
  if (command == Command::find_max) return "find-max";
  return command == Command::calibrate ? "--calibrate" : "a run";
}

}  // namespace

Arguments::Arguments(int argc, const char* const* argv) {
  bool options_end = false;
  for (int i = 1; i < argc;) {
    const std::string_view word{argv[i]};
    if (!options_end && word == "--") {
      options_end = true;
      ++i;
    } else if (!options_end && word.size() > 1 && word.front() == '-') {
      i += take_option(argc - i, argv + i);
    } else {
      words_.emplace_back(word);
      ++i;
    }
  }
  settle_command();
}

int Arguments::take_option(int left, const char* const* word) {
  const std::string_view text{*word};
  const bool is_long = text.starts_with("--");
  const auto equals = is_long ? text.find('=') : std::string_view::npos;
  const auto name =
      is_long ? text.substr(2, equals == std::string_view::npos ? equals : equals - 2) : text.substr(1, 1);
  const auto* option = is_long ? find_option(name) : find_option(name.front());
  if (option == nullptr) refuse_unknown(text.substr(0, is_long ? equals : 2), name);
  std::optional<std::string> attached;
  if (equals != std::string_view::npos) attached = text.substr(equals + 1);
  if (!is_long && text.size() > 2) attached = text.substr(2);
  if (option->value.empty()) {
    if (attached)
      throw UsageError(fmt::format("--{}: found '{}', accepted: no value", option->name, *attached));
    keep(*option, "");
    return 1;
  }
  if (attached) {
    keep(*option, *attached);
    return 1;
  }
  if (left < 2)
    throw UsageError(fmt::format("--{}: found nothing, accepted: {}", option->name, option->value));
  keep(*option, word[1]);
  return 2;
}

void Arguments::keep(const OptionSpec& option, std::string value) {
  auto& values = values_[option.name];
  if (!values.empty() && !option.repeats) {
    throw UsageError(fmt::format("--{}: found twice, accepted: once", option.name));
  }
  values.push_back(std::move(value));
}

void Arguments::settle_command() {
  if (!words_.empty() && words_.front() == "find-max") {
    command_ = Command::find_max;
    words_.erase(words_.begin());
  } else if (has("calibrate")) {
    command_ = Command::calibrate;
  }
  for (const auto& [name, values] : values_) {
    if (takes(*find_option(name), command_)) continue;
    throw UsageError(fmt::format("--{}: not with {}; see heddle-load {}--help", name, command_text(command_),
                                 command_ == Command::find_max ? "find-max " : ""));
  }
}

bool Arguments::has(std::string_view option) const {
  if (find_option(option) == nullptr) throw std::logic_error(fmt::format("no option --{}", option));
  return values_.contains(option);
}

std::vector<std::string> Arguments::all(std::string_view option) const {
  return has(option) ? values_.at(option) : std::vector<std::string>{};
}

std::string Arguments::text(std::string_view option, std::string_view fallback) const {
  return has(option) ? values_.at(option).front() : std::string{fallback};
}

std::int64_t Arguments::integer(std::string_view option, std::int64_t low, std::int64_t high,
                                std::int64_t fallback) const {
  return has(option) ? parse_integer(text(option, ""), option, low, high) : fallback;
}

double Arguments::number(std::string_view option, double low, double high, double fallback) const {
  if (!has(option)) return fallback;
  return parse_number(text(option, ""), option, low, high);
}

plan::Nanos Arguments::duration(std::string_view option, std::string_view fallback) const {
  return parse_duration(text(option, fallback), std::string{option});
}

std::string Arguments::choice(std::string_view option, const std::vector<std::string>& accepted) const {
  auto found = text(option, accepted.front());
  if (std::find(accepted.begin(), accepted.end(), found) == accepted.end()) {
    refuse(option, found, fmt::format("{}", fmt::join(accepted, ", ")));
  }
  return found;
}

const OptionSpec* Arguments::first_beside_plan() const {
  for (const auto& option : option_table()) {
    if (!option.with_plan && values_.contains(option.name)) return &option;
  }
  return nullptr;
}

}  // namespace heddle::load
