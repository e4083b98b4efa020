// The operations that the micro-benchmarks measure: parts of the load generator that run once or several
// times per request, or once a second.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace heddle::microbench {

class Kernel {
 public:
  virtual ~Kernel() = default;
  // Does the operation `times` times. What it needs was made before, in the constructor.
  virtual void run(std::int64_t times) = 0;
};

struct NamedKernel {
  std::string_view name;
  bool per_request;  // done for each request, so it must not allocate
  std::unique_ptr<Kernel> (*make)();
};

// All of them, in the order of the table that ci/microbench.sh prints.
[[nodiscard]] const std::vector<NamedKernel>& all_kernels();

// Makes the compiler believe that `value` is used, and that what it points to may change.
template <class Value>
void use(Value&& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

}  // namespace heddle::microbench
