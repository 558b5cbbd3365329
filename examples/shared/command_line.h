// PROGRAM [ENDPOINT] [--NAME NUMBER]...
#pragma once

#include <itemdb/client.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace example {

struct CommandLine {
  // The address of itemd; empty for the default address.
  std::string endpoint;
  // The numbers that were given, by name such as "--orders".
  std::map<std::string, int64_t> numbers;

  bool given(const std::string& name) const { return numbers.contains(name); }
  int64_t number(const std::string& name, int64_t otherwise) const {
    return given(name) ? numbers.at(name) : otherwise;
  }
};

// Ends the program with its usage if an argument is not allowed; `names` are the allowed options.
CommandLine ReadCommandLine(int argc, char** argv, const std::vector<std::string>& names = {});

}  // namespace example
