// How much of this host's calibrated limit a run used.
#pragma once

#include <string>

namespace heddle::record {

struct Ceiling {
  double per_second_per_thread = 0;  // what `heddle-load --calibrate` reached with about as many connections
  double share = 0;                  // of it that the run's rate, offered or (for users) reached, is
  std::string calibrated;            // when, UTC
};

}  // namespace heddle::record
