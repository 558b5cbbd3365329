#include "daemon/config/setting_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"

namespace itemdb::daemon {
namespace {

struct Unit {
  std::string_view name;
  double bytes;
};

constexpr Unit kUnits[] = {
    {"", 1},          {"b", 1},          {"k", 1ull << 10},   {"kib", 1ull << 10}, {"m", 1ull << 20},
    {"mib", 1 << 20}, {"g", 1ull << 30}, {"gib", 1ull << 30}, {"t", 1ull << 40},   {"tib", 1ull << 40},
    {"kb", 1e3},      {"mb", 1e6},       {"gb", 1e9},         {"tb", 1e12},
};

absl::Status NotASize(std::string_view text) {
  return storage::ValidationError(absl::StrFormat(
      "\"%s\" is not a size: write a number of bytes, or one with a unit such as 512MiB or 4GiB", text));
}

// Removes the number at the beginning of `text` and returns it: digits and one point, no sign, no exponent.
std::optional<double> ConsumeNumber(std::string_view& text) {
  double number = 0;
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

std::string Folded(std::string_view name) {
  std::string folded(name);
  for (char& c : folded) c = c == '_' ? '-' : absl::ascii_tolower(static_cast<unsigned char>(c));
  return folded;
}

// The number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<size_t> before, above(b.size() + 1), row(b.size() + 1);
  std::iota(above.begin(), above.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t change = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, change});
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::move(above);
    above = row;
  }
  return above.back();
}

}  // namespace

absl::StatusOr<uint64_t> ParseSize(std::string_view text) {
  std::string_view rest = text;
  std::optional<double> number = ConsumeNumber(rest);
  if (!number.has_value()) return NotASize(text);
  std::string unit(
      absl::AsciiStrToLower(absl::StripAsciiWhitespace(absl::string_view(rest.data(), rest.size()))));
  for (const Unit& known : kUnits) {
    if (known.name != unit) continue;
    double bytes = std::floor(*number * known.bytes);
    if (bytes >= 9.2e18) break;
    return static_cast<uint64_t>(bytes);
  }
  return NotASize(text);
}

absl::StatusOr<uint64_t> ParseSizeOrShare(std::string_view text, uint64_t whole) {
  std::string_view rest = text;
  std::optional<double> number = ConsumeNumber(rest);
  if (!number.has_value() || rest != "%") return ParseSize(text);
  if (*number > 100) {
    return storage::ValidationError(
        absl::StrFormat("\"%s\" is more than all of the memory: write at most 100%%", text));
  }
  return static_cast<uint64_t>(*number / 100 * static_cast<double>(whole));
}

absl::StatusOr<absl::Duration> ParseDuration(std::string_view text) {
  absl::Duration duration;
  bool parsed = absl::ParseDuration(absl::string_view(text.data(), text.size()), &duration);
  bool zero_without_unit = text == "0";
  if (!parsed || zero_without_unit || duration < absl::ZeroDuration() ||
      duration == absl::InfiniteDuration()) {
    return storage::ValidationError(absl::StrFormat(
        "\"%s\" is not a duration: write a number with a unit, such as 500ms, 10s or 5m", text));
  }
  return duration;
}

std::string FormatSize(uint64_t bytes) {
  constexpr std::array kNames = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  auto value = static_cast<double>(bytes);
  while (value >= 1024 && unit + 1 < kNames.size()) {
    value /= 1024;
    ++unit;
  }
  return value == std::floor(value) ? absl::StrFormat("%.0f%s", value, kNames[unit])
                                    : absl::StrFormat("%.1f%s", value, kNames[unit]);
}

std::string NearestName(std::string_view typed, const std::vector<std::string>& names) {
  // A longer text is not a misspelt name, and comparing it would take long.
  constexpr size_t kLongestTyped = 64;
  if (typed.size() > kLongestTyped) return "";
  std::string folded = Folded(typed);
  std::string nearest;
  size_t least = std::max<size_t>(2, folded.size() / 3) + 1;
  for (const std::string& name : names) {
    size_t distance = EditDistance(folded, Folded(name));
    // A text that is the beginning or the end of a name counts as one typing error.
    bool part = folded.size() >= 3 && (Folded(name).starts_with(folded) || Folded(name).ends_with(folded));
    if (part) distance = std::min<size_t>(distance, 1);
    if (distance < least) {
      least = distance;
      nearest = name;
    }
  }
  return nearest;
}

std::string DidYouMean(std::string_view typed, const std::vector<std::string>& names) {
  std::string nearest = NearestName(typed, names);
  return nearest.empty() ? "" : absl::StrFormat(" (did you mean %s?)", nearest);
}

}  // namespace itemdb::daemon
