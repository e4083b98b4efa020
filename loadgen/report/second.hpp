// One second of a run as displays want it.
#pragma once

#include "loadgen/record/listener.hpp"

namespace heddle::report {

// All its stages and request types as one; in_flight is their sum.
[[nodiscard]] record::Cell whole(const record::Second& second, const record::RunInfo& info);

// Between two phases there are intervals of some milliseconds: files keep them, but rates over them would
// jump in a display.
[[nodiscard]] bool too_short_to_show(const record::Second& second);

}  // namespace heddle::report
