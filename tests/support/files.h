// Reading and writing whole files.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

namespace itemdb::testing {

// The content of a file; empty if the file does not exist.
inline std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  // Not with istreambuf_iterator: in unoptimised tests that takes a second for a ballast file.
  std::ostringstream content;
  content << in.rdbuf();
  return std::move(content).str();
}

// Creates or replaces the file.
inline void WriteFile(const std::filesystem::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

}  // namespace itemdb::testing
