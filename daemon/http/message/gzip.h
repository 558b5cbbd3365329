// Inflates request bodies with Content-Encoding gzip (SEM-113).
#pragma once

#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace itemdb::http {

// Inflates `bytes`, one or more gzip members, to at most `max_bytes`, with capacity for `padding` more.
//
// INVALID_ARGUMENT: `bytes` are not gzip, or not complete. RESOURCE_EXHAUSTED: they inflate to more than
// `max_bytes`; inflating stopped there.
absl::StatusOr<std::string> Gunzip(std::string_view bytes, size_t max_bytes, size_t padding);

}  // namespace itemdb::http
