#include "tools/base/number_text.h"

#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace itemdb::tools {

std::string WithSeparators(int64_t number) {
  std::string text = std::to_string(number);
  const size_t first = text.front() == '-' ? 1 : 0;
  for (size_t i = text.size(); i > first + 3; i -= 3) text.insert(i - 3, 1, ',');
  return text;
}

std::string BytesText(int64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double number = static_cast<double>(bytes);
  size_t unit = 0;
  while (number >= 1024 && unit + 1 < std::size(kUnits)) {
    number /= 1024;
    ++unit;
  }
  return absl::StrFormat("%.*f %s", unit == 0 || number >= 100 ? 0 : 1, number, kUnits[unit]);
}

std::string LatencyText(absl::Duration latency) {
  const double us = absl::ToDoubleMicroseconds(latency);
  if (us < 1'000) return absl::StrFormat("%.0f us", us);
  if (us < 1'000'000) return absl::StrFormat("%.1f ms", us / 1'000);
  return absl::StrFormat("%.1f s", us / 1'000'000);
}

std::string CountText(int64_t count, Noun noun) {
  return count == 0 ? "no " + std::string(noun.many) : NumberOf(count, noun);
}

std::string NumberOf(int64_t count, Noun noun) {
  return WithSeparators(count) + " " + std::string(count == 1 ? noun.one : noun.many);
}

}  // namespace itemdb::tools
