#include "shared/command_line.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iostream>

namespace example {
namespace {

[[noreturn]] void Refuse(const std::string& what, const char* program,
                         const std::vector<std::string>& names) {
  std::cerr << what << "; usage: " << program << " [ENDPOINT]";
  for (const std::string& name : names) std::cerr << " [" << name << " NUMBER]";
  std::cerr << "\n";
  std::exit(64);
}

}  // namespace

CommandLine ReadCommandLine(int argc, char** argv, const std::vector<std::string>& names) {
  CommandLine line;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (!argument.starts_with("--")) {
      if (!line.endpoint.empty())
        Refuse("two endpoints are given, the second is " + argument, argv[0], names);
      line.endpoint = argument;
      continue;
    }
    if (std::find(names.begin(), names.end(), argument) == names.end()) {
      Refuse("there is no option " + argument, argv[0], names);
    }
    const std::string text = ++i < argc ? argv[i] : "";
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0) {
      Refuse(argument + " needs a whole number from 0, not \"" + text + "\"", argv[0], names);
    }
    line.numbers[argument] = number;
  }
  return line;
}

}  // namespace example
