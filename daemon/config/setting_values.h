// Parses values of settings (sizes, durations), and finds the setting that a misspelt name means.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "storage/base/status.h"

namespace itemdb::daemon {

// Bytes from a text such as "512MiB": a number, with or without a fraction, then a unit. B, KiB, MiB, GiB,
// TiB are powers of 1,024, and so are K, M, G, T; kB, MB, GB, TB are powers of 1,000. Without a unit the
// number is bytes. Case does not matter. INVALID_ARGUMENT: another text, or more than 9.2 * 10^18 bytes
// (about 2^63). The message does not name the setting: "\"x\" is not a size: ...".
absl::StatusOr<uint64_t> ParseSize(std::string_view text);
// As ParseSize(); also takes a percentage of `whole`, such as "25%". INVALID_ARGUMENT: more than 100%.
absl::StatusOr<uint64_t> ParseSizeOrShare(std::string_view text, uint64_t whole);

// 0 to 1 from "1%", "0.5%", "0.01", "1". INVALID_ARGUMENT: another text, or more than the whole.
absl::StatusOr<double> ParseShare(std::string_view text);

// The URL that spans are sent to for a --trace-endpoint: "http://127.0.0.1:4318" becomes
// "http://127.0.0.1:4318/v1/traces"; a URL with a path stays. INVALID_ARGUMENT: it is no http or https URL,
// or has a query or a user name.
absl::StatusOr<std::string> ParseTraceEndpoint(const std::string& endpoint);

// A duration from "10s", "1m30s", "250ms", "0s". INVALID_ARGUMENT: without a unit, negative, or infinite.
absl::StatusOr<absl::Duration> ParseDuration(std::string_view text);

// "64MiB" if that is exact, else with one digit after the point: "1.5GiB".
std::string FormatSize(uint64_t bytes);

}  // namespace itemdb::daemon
