// Building key values out of parts: hierarchies in one sort key, and ids in the order of time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "itemdb/export.h"

namespace itemdb {
inline namespace client {

// The parts, each followed by '#': {"NE", "OMAHA"} is "NE#OMAHA#". The key of a place is thus exactly the
// prefix (begins_with) of everything below it, and not of a neighbour whose name begins alike.
//
// INVALID_ARGUMENT: a part is empty or contains '#'. Does not block; thread-safe, as everything here.
ITEMDB_EXPORT absl::StatusOr<std::string> CompositeKey(const std::vector<std::string>& parts);

// The parts of such a key. INVALID_ARGUMENT: `key` was not made like this.
ITEMDB_EXPORT absl::StatusOr<std::vector<std::string>> PartsOfKey(std::string_view key);

// A new id of 26 characters (a ULID): the milliseconds of `time` and 80 random bits, digits and upper-case
// letters. Ids of one process ascend strictly when their times do not descend, also within a millisecond.
// Times before 1970 count as 1970, those after the year 10889 as its end.
ITEMDB_EXPORT std::string TimeOrderedId(absl::Time time = absl::Now());

// When an id was made, to the millisecond. INVALID_ARGUMENT: it is not one of these.
ITEMDB_EXPORT absl::StatusOr<absl::Time> TimeOfId(std::string_view id);

// The smallest id of a time: `sort_key >= :from` with it finds what was made then or later.
ITEMDB_EXPORT std::string FirstIdOf(absl::Time time);

}  // namespace client
}  // namespace itemdb
