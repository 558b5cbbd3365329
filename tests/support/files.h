// Whole files, read and written.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

namespace itemdb::testing {

// The content of a file; empty when there is none.
inline std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  // Not through istreambuf_iterator: unoptimised, as tests are, that takes a second for a ballast file.
  std::ostringstream content;
  content << in.rdbuf();
  return std::move(content).str();
}

// Makes or replaces it.
inline void WriteFile(const std::filesystem::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

}  // namespace itemdb::testing
