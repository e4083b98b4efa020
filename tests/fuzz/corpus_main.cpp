// Runs a fuzz target once over every file of the folders on the command line: what ./test.sh does with them.
#include "tests/fuzz/target.hpp"

#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

bool run(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
  if (!in) {
    std::fprintf(stderr, "cannot read %s\n", file.c_str());
    return false;
  }
  std::printf("%s\n", file.c_str());
  std::fflush(stdout);  // the last line names the file that ends the process
  (void)LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  int files = 0;
  bool good = true;
  try {
    for (int i = 1; i < argc; ++i) {
      for (const auto& entry : std::filesystem::directory_iterator{argv[i]}) {
        good = run(entry.path()) && good;
        ++files;
      }
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  if (files == 0) std::fprintf(stderr, "no file to read\n");
  return good && files > 0 ? 0 : 1;
}
