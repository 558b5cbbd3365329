// Where a read goes on, as text that programs keep.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "itemdb/value.h"

namespace itemdb {
inline namespace client {

// Attributes as URL-safe base64 of their encoded form; and back. INVALID_ARGUMENT: `text` is nothing of the
// kind.
std::string EncodePosition(const Item& position);
absl::StatusOr<Item> DecodePosition(std::string_view text);

// INVALID_ARGUMENT, saying that `text` is not a position of this read.
absl::Status WrongPosition(std::string_view text);

}  // namespace client
}  // namespace itemdb
