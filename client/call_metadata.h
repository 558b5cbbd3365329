// Metadata that goes with every call.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "itemdb/export.h"

namespace itemdb {

// W3C Trace Context.
inline constexpr char kTraceparent[] = "traceparent";

// INVALID_ARGUMENT: not a key and a value that gRPC and HTTP can carry.
ITEMDB_EXPORT absl::Status CheckMetadata(const std::string& key, const std::string& value);

}  // namespace itemdb
