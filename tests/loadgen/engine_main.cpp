// run_load() takes the signals itself, so they are blocked first, as in the program.
#include "loadgen/engine/run.hpp"

#include <gmock/gmock.h>

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  heddle::engine::block_stop_signals();
  return RUN_ALL_TESTS();
}
