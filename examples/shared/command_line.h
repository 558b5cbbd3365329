// PROGRAM [ENDPOINT] [--NAME NUMBER]...
#pragma once

#include <itemdb/client.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace example {

struct CommandLine {
  // Of itemd; empty for the default one.
  std::string endpoint;
  // By name, "--orders"; only what was given.
  std::map<std::string, int64_t> numbers;

  bool given(const std::string& name) const { return numbers.contains(name); }
  int64_t number(const std::string& name, int64_t otherwise) const {
    return given(name) ? numbers.at(name) : otherwise;
  }
};

// Ends the program with its usage when an argument is not allowed; `names` are.
CommandLine ReadCommandLine(int argc, char** argv, const std::vector<std::string>& names = {});

}  // namespace example
