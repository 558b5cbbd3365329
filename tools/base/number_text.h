// Numbers and sizes as text for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace itemdb::tools {

// "1,234,567".
std::string WithSeparators(int64_t number);

// "1.5 GiB", "12 KiB", "0 B".
std::string BytesText(int64_t bytes);

// "250 us", "1.5 ms", "2.0 s".
std::string LatencyText(absl::Duration latency);

// What is counted: "item", "items".
struct Noun {
  std::string_view one;
  std::string_view many;
};

inline constexpr Noun kItemNoun = {.one = "item", .many = "items"};

// "no items", "1 item", "1,234 items".
std::string CountText(int64_t count, Noun noun);

// "1 index", "0 indexes": the number is always there, for sentences.
std::string NumberOf(int64_t count, Noun noun);

}  // namespace itemdb::tools
