// What the program's exit code tells.
#pragma once

namespace heddle::load {

enum ExitCode : int { kComplete = 0, kFailed = 1, kUsage = 2, kNotMeasurable = 3, kInterrupted = 130 };

}  // namespace heddle::load
