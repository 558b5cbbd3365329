// Bodies of requests that come compressed (SEM-113).
#pragma once

#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace itemdb {

// What `bytes`, one gzip member or several, inflate to, at most `max_bytes` of it, with capacity for
// `padding` more.
//
// INVALID_ARGUMENT: they are not gzip. RESOURCE_EXHAUSTED: they inflate to more; only so much was inflated.
absl::StatusOr<std::string> Gunzip(std::string_view bytes, size_t max_bytes, size_t padding);

}  // namespace itemdb
