// Reads the files and texts under test.
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace heddle::metrics::test {

inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  while (true) {
    const std::size_t end = text.find(separator, start);
    parts.push_back(text.substr(start, end - start));
    if (end == std::string::npos) return parts;
    start = end + 1;
  }
}

// The lines of a file, each without its end; the last one must have had an end too.
inline std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  auto lines = split(text.str(), '\n');
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

}  // namespace heddle::metrics::test
