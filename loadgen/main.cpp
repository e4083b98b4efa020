// heddle-load: reads what to do and does it.
#include "loadgen/commands/common.hpp"
#include "loadgen/commands/find_max.hpp"
#include "loadgen/commands/run.hpp"
#include "loadgen/engine/run.hpp"
#include "loadgen/options.hpp"
#include "loadgen/plan/plan_reader.hpp"

#include <exception>
#include <stdexcept>

#include <fmt/format.h>

namespace {

using namespace heddle;

int obey(const load::Options& options) {
  if (options.help) {
    load::print(load::help_text(options.command));
    return load::kComplete;
  }
  if (options.version) {
    load::print(fmt::format("heddle-load {}\n", HEDDLE_VERSION));
    return load::kComplete;
  }
  if (!options.completion.empty()) {
    load::print(load::completion_script(options.completion));
    return load::kComplete;
  }
  return options.command == load::Command::find_max ? load::find_max(options) : load::run(options);
}

int usage(const std::exception& error) {
  load::tell(error.what());
  return load::kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  engine::block_stop_signals();
  try {
    return obey(load::parse_options(argc, argv));
  } catch (const load::UsageError& error) {
    return usage(error);
  } catch (const plan::PlanError& error) {
    return usage(error);
  } catch (const std::invalid_argument& error) {
    return usage(error);
  } catch (const engine::NotMeasurable& error) {
    load::tell(error.what());
    return load::kNotMeasurable;
  } catch (const std::exception& error) {
    load::tell(error.what());
    return load::kFailed;
  }
}
