#include "daemon/config/setting_values.h"

#include <array>
#include <charconv>
#include <cmath>
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

absl::StatusOr<double> ParseShare(std::string_view text) {
  std::string_view rest = text;
  const std::optional<double> number = ConsumeNumber(rest);
  const double share = number.value_or(-1) / (rest == "%" ? 100 : 1);
  if (!number.has_value() || (!rest.empty() && rest != "%") || share < 0 || share > 1) {
    return storage::ValidationError(absl::StrFormat(
        "\"%s\" is not a share: write a percentage from 0%% to 100%%, or a fraction from 0 to 1", text));
  }
  return share;
}

absl::StatusOr<std::string> ParseTraceEndpoint(const std::string& endpoint) {
  const auto wrong = [&](std::string_view why) {
    return storage::ValidationError(absl::StrFormat(
        "\"%s\" %s: it takes the URL of a collector, such as http://127.0.0.1:4318", endpoint, why));
  };
  const size_t scheme = endpoint.find("://");
  if (scheme == std::string::npos ||
      (endpoint.substr(0, scheme) != "http" && endpoint.substr(0, scheme) != "https"))
    return wrong("does not begin with http:// or https://");
  if (endpoint.find_first_of("?#@ \t\r\n\"") != std::string::npos)
    return wrong("has a query, a user name or a blank");
  const size_t host = scheme + 3;
  const size_t path = endpoint.find('/', host);
  if (std::min(path, endpoint.size()) == host) return wrong("names no host");
  if (path != std::string::npos && path + 1 != endpoint.size()) return endpoint;
  return endpoint.substr(0, path) + "/v1/traces";
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

}  // namespace itemdb::daemon
