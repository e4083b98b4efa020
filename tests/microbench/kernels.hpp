// The makers of the kernels, by the part of the generator that they are about.
#pragma once

#include "tests/microbench/kernel.hpp"

namespace heddle::microbench {

// --- record
[[nodiscard]] std::unique_ptr<Kernel> histogram_record();
[[nodiscard]] std::unique_ptr<Kernel> histogram_merge();
[[nodiscard]] std::unique_ptr<Kernel> hlog_encode();

// --- plan
[[nodiscard]] std::unique_ptr<Kernel> due_time_constant();
[[nodiscard]] std::unique_ptr<Kernel> due_time_ramp();
[[nodiscard]] std::unique_ptr<Kernel> due_time_poisson();
[[nodiscard]] std::unique_ptr<Kernel> mix_draw();

// --- http
[[nodiscard]] std::unique_ptr<Kernel> response_small();
[[nodiscard]] std::unique_ptr<Kernel> response_length();
[[nodiscard]] std::unique_ptr<Kernel> response_chunked();

}  // namespace heddle::microbench
