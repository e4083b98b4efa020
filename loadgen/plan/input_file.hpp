// Files that the user names as input: plans and bodies.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace heddle::plan {

// Both are held in memory at once; a device or a wrong path must not fill it.
inline constexpr std::size_t kMaxInputBytes = 64UL * 1024 * 1024;

// The whole content of a regular file of at most `limit` bytes. Throws std::invalid_argument, "cannot read
// WHAT FILE: why", for anything else: devices and pipes may never end. Blocks, but not on a pipe.
[[nodiscard]] std::string read_input_file(const std::filesystem::path& file, const std::string& what,
                                          std::size_t limit = kMaxInputBytes);

}  // namespace heddle::plan
