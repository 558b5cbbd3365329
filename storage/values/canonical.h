// Turns the bytes that a client sent into canonical bytes.
//
// Canonical: attributes and maps at every depth sorted by name (bytewise), sets sorted in key order, numbers
// written out without exponent and needless zeros (SEM-012), fields encoded in their shortest form, no
// unknown field. Equal items are equal bytes, so "nothing changed" is a memcmp (invariant
// EqualItemsEqualBytes). Every item and value that enters the database is canonicalized here first; all later
// code trusts the bytes and reads them through views (value_view.h).
#pragma once

#include <string>
#include <string_view>

#include "storage/base/status.h"
#include "storage/values/item_size.h"
#include "storage/values/value_view.h"

namespace itemdb::storage {

// The error for more than 32 levels of nesting (SEM-017), of encoded items and of expression texts.
inline constexpr std::string_view kTooDeepMessage =
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond "
    "supported limit of 32";

// Returns the canonical form of an encoded itemdb.v1.Item from an untrusted source.
//
// Checks everything that does not need a table: well-formed encoding, UTF-8, names (SEM-009), one member per
// value (SEM-010), numbers (SEM-011), sets (SEM-015, SEM-016), depth (SEM-017), duplicate names. Does not
// check the item's size (SEM-001). Depth counts values: an attribute's value is level 1, an element of a list
// or map is one level deeper, and level 32 is the last. So a scalar may be wrapped in 31 lists and maps.
//
// Thread-safe. Recursion is bounded by the depth. Canonical input costs one walk and one copy.
//
// INVALID_ARGUMENT: a check failed; the message names the attribute by its path. Also when the item is larger
// than kMaxEncodedItemBytes with its numbers written out, because a reply page could not carry it.
absl::StatusOr<std::string> CanonicalizeItem(std::string_view encoded);

// The same for one encoded itemdb.v1.AttributeValue, which is level 1.
absl::StatusOr<std::string> CanonicalizeValue(std::string_view encoded);

}  // namespace itemdb::storage
