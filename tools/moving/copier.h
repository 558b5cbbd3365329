// The copy of all items of the moved tables, in segments of parallel scans, several at a time.
#pragma once

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "tools/moving/move_journal.h"
#include "tools/moving/pace.h"
#include "tools/moving/side.h"

namespace itemdb::tools {

// Each page is read from the state of its own moment and put as a whole; where a segment is, the journal
// knows after its page was acknowledged. A page that is copied again after a crash is the source's state of
// later, so it does not matter how often that happens: every change after the first page is in the change
// log.
//
// Returns when all segments of the journal's state are copied. `workers` pages are in memory at a time.
// `on_copied` gets the number of items of each page, on several threads. NOT_FOUND: a table was deleted
// meanwhile.
absl::Status CopyItems(const Side& source, const Side& target, MoveJournal& journal, Pace& pace, int workers,
                       const std::function<void(int64_t)>& on_copied);

// Calls `work` with 0 to `count` - 1, `workers` at a time, until all are done or one fails; returns the first
// failure.
absl::Status InParallel(int workers, size_t count, const std::function<absl::Status(size_t)>& work);

}  // namespace itemdb::tools
