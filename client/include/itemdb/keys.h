// Building key values from parts: a hierarchy in one sort key, and ids that sort by time.
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "itemdb/export.h"

namespace itemdb {

// Joins the parts, each followed by '#': {"NE", "OMAHA"} becomes "NE#OMAHA#". So begins_with on the key of a
// place finds all keys below that place, and no other place whose name starts with the same letters.
//
// INVALID_ARGUMENT: a part is empty or contains '#'. All functions here are thread-safe and do not block.
ITEMDB_EXPORT absl::StatusOr<std::string> CompositeKey(const std::vector<std::string>& parts);

// The parts of a key that CompositeKey made. INVALID_ARGUMENT: CompositeKey cannot have made `key`.
ITEMDB_EXPORT absl::StatusOr<std::vector<std::string>> PartsOfKey(std::string_view key);

// A new id of 26 digits and upper-case letters (a ULID): the milliseconds of `time` and 80 random bits. If
// the times passed by one process do not descend, its ids ascend strictly, also within a millisecond. A time
// before 1970 counts as 1970, a time after the year 10889 as the end of that year.
ITEMDB_EXPORT std::string TimeOrderedId(absl::Time time = absl::Now());

// When an id was made, to the millisecond. INVALID_ARGUMENT: `id` was not made by TimeOrderedId.
ITEMDB_EXPORT absl::StatusOr<absl::Time> TimeOfId(std::string_view id);

// The smallest id of a time: `sort_key >= :from` with this id finds what was made at that time or later.
ITEMDB_EXPORT std::string FirstIdOf(absl::Time time);

}  // namespace itemdb
