// What settings look like as text: sizes, durations, and the name somebody probably meant.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "storage/base/status.h"

namespace itemdb {

// Bytes from "512MiB": a number, with or without a fraction, and one of B, KiB, MiB, GiB, TiB, or of kB, MB,
// GB, TB (powers of 1,000); K, M, G, T mean KiB and so on; without a unit it is bytes. Case does not matter.
// INVALID_ARGUMENT: anything else, or more than 2^63 - 1 bytes. The message has no subject: "is not a size:
// ...".
absl::StatusOr<uint64_t> ParseSize(std::string_view text);
// The same, and "25%" of `whole`.
absl::StatusOr<uint64_t> ParseSizeOrShare(std::string_view text, uint64_t whole);

// From "10s", "1m30s", "250ms", "0s". INVALID_ARGUMENT: no unit, negative, or infinite.
absl::StatusOr<absl::Duration> ParseDuration(std::string_view text);

// "64MiB" when that is exact, else with one digit after the point.
std::string FormatSize(uint64_t bytes);

// The one of `names` that `typed` is the likeliest misspelling of; empty when none is near. Case and the
// difference between - and _ count for nothing.
std::string NearestName(std::string_view typed, const std::vector<std::string>& names);
// " (did you mean NAME?)" with that name, or nothing.
std::string DidYouMean(std::string_view typed, const std::vector<std::string>& names);

}  // namespace itemdb
