// Turning what a client sent into canonical bytes.
//
// Canonical: attributes and maps at every depth sorted by name (bytewise), sets sorted in key order, numbers
// in SEM-012 form, fields encoded in their shortest form, nothing unknown. Equal items are equal bytes, so
// "nothing changed" is a memcmp (invariant EqualItemsEqualBytes). Every item and value that enters the
// database passes here first; behind it, views (value_view.h) trust the bytes.
#pragma once

#include <string>
#include <string_view>

#include "storage/base/status.h"
#include "storage/values/item_size.h"
#include "storage/values/value_view.h"

namespace itemdb {

// SEM-017, also for texts that nest values.
inline constexpr std::string_view kTooDeepMessage =
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond "
    "supported limit of 32";

// The canonical form of an encoded itemdb.v1.Item from an untrusted source.
//
// Checks everything that does not need a table: well-formed encoding, UTF-8, names (SEM-009), one member per
// value (SEM-010), numbers (SEM-011), sets (SEM-015, SEM-016), depth (SEM-017), duplicate names. Does not
// check the item's size by SEM-001. Depth counts values: an attribute's value is level 1, what a list or map
// holds is one level deeper, and level 32 is the last; so a scalar may be wrapped in 31 lists and maps.
//
// Thread-safe; recursion is bounded by the depth. Input that is canonical already costs one walk and one
// copy.
//
// INVALID_ARGUMENT: a check failed; the message names the attribute by its path. Also when numbers written
// out in full take the item above kMaxEncodedItemBytes, which a page of replies could not carry.
absl::StatusOr<std::string> CanonicalizeItem(std::string_view encoded);

// Likewise for one encoded itemdb.v1.AttributeValue, which is level 1.
absl::StatusOr<std::string> CanonicalizeValue(std::string_view encoded);

}  // namespace itemdb
