// The position where a read continues, as text that a program can store.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "itemdb/value.h"

namespace itemdb {

// Encode: the attributes as URL-safe base64 of their encoded form. Decode: the reverse. INVALID_ARGUMENT:
// `text` was not made by EncodePosition.
std::string EncodePosition(const Item& position);
absl::StatusOr<Item> DecodePosition(std::string_view text);

// INVALID_ARGUMENT, saying that `text` is not a position of this read.
absl::Status WrongPosition(std::string_view text);

}  // namespace itemdb
