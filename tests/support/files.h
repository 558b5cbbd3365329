// Reading and writing whole files.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

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

// The files below `directory` that have `text` in them, and those whose names have it.
inline std::vector<std::string> FilesWith(const std::filesystem::path& directory, const std::string& text) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    const bool has_text = entry.is_regular_file() && ReadFile(entry.path()).find(text) != std::string::npos;
    if (has_text || entry.path().filename().string().find(text) != std::string::npos)
      found.push_back(entry.path());
  }
  return found;
}

}  // namespace itemdb::testing
