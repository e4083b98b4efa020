#include "tests/microbench/kernels.hpp"

namespace heddle::microbench {

const std::vector<NamedKernel>& all_kernels() {
  static const std::vector<NamedKernel> kernels{
      // Per request: three records, one due time, one draw, one answer.
      {"histogram-record", true, histogram_record},
      {"due-time-constant", true, due_time_constant},
      {"due-time-ramp", true, due_time_ramp},
      {"due-time-poisson", true, due_time_poisson},
      {"mix-draw", true, mix_draw},
      {"response-small", true, response_small},
      {"response-length-1600", true, response_length},
      {"response-chunked", true, response_chunked},
      // Once a second, off the engine threads.
      {"histogram-merge", false, histogram_merge},
      {"hlog-encode", false, hlog_encode},
  };
  return kernels;
}

}  // namespace heddle::microbench
