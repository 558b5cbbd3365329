// Checks of option values. CLI11's own conversion wraps negative numbers to unsigned ones, truncates numbers
// that are too large, and accepts "nan" as a number.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace itemdb::tools {

// For CLI::Option::check: returns the error message, empty for a valid value.
using Check = std::function<std::string(const std::string&)>;

// A whole number from `least` to `most`.
Check WholeNumberBetween(int64_t least, int64_t most);
inline Check WholeNumberFrom(int64_t least) {
  return WholeNumberBetween(least, std::numeric_limits<int64_t>::max());
}
// For Limit and page sizes.
inline Check PositiveInt32() { return WholeNumberBetween(1, std::numeric_limits<int32_t>::max()); }

// One of `words`.
Check OneOfWords(std::vector<std::string> words);

// A time in seconds from `least` to `most`, fractions allowed.
Check SecondsBetween(double least, double most);

}  // namespace itemdb::tools
