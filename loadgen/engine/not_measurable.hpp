// The one error that means: this host cannot do what the plan asks for.
#pragma once

#include <stdexcept>

namespace heddle::engine {

// Exit code 3. Its message holds the numbers and what helps.
class NotMeasurable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace heddle::engine
