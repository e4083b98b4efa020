// heddle-load: reads what to do and does it.
#include "loadgen/calibrate/calibrate.hpp"
#include "loadgen/commands/common.hpp"
#include "loadgen/commands/find_max.hpp"
#include "loadgen/commands/run.hpp"
#include "loadgen/engine/run.hpp"
#include "loadgen/options.hpp"
#include "loadgen/plan/plan_reader.hpp"

#include <csignal>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <stdexcept>
#include <unistd.h>

#include <boost/json.hpp>
#include <fmt/format.h>

namespace {

using namespace heddle;

int calibrate(const load::Options& options) {
  load::CalibrateOptions how;
  how.measure.threads = options.plan.threads;
  how.measure.cpus = options.plan.cpus;
  how.measure.spin = options.plan.spin;
  how.file = options.calibration;
  how.version = HEDDLE_VERSION;
  how.quick = options.quick;
  how.json = options.json;
  return load::calibrate(how);
}

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
  switch (options.command) {
    case load::Command::find_max:
      return load::find_max(options);
    case load::Command::calibrate:
      return calibrate(options);
    case load::Command::run:
      break;
  }
  return load::run(options);
}

// A closed descriptor 0 to 2 would be given to the next file, and words for people would end up in it. Opened
// like this a write to it fails, as it did before.
void keep_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0) std::abort();
  }
}

// Arguments are quoted in JSON.
void check_arguments(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    boost::json::error_code error;
    (void)boost::json::parse(boost::json::serialize(boost::json::string{argv[i]}), error);
    if (error) throw load::UsageError(fmt::format("argument {} is no valid UTF-8", i));
  }
}

int usage(const std::exception& error) {
  load::tell(error.what());
  return load::kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  // A reader that goes away is an output that cannot be written, and no reason to drop the run.
  std::signal(SIGPIPE, SIG_IGN);
  keep_standard_descriptors();
  engine::block_stop_signals();
  try {
    check_arguments(argc, argv);
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
