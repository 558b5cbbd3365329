// Filling an index that is created on a live table, while writes go on.
//
//   1. kFilling     of the view S0: read every item, sort the entries, write them into files, put those into
//                   the family, under the index's storage id
//   2. MaintainIndex: kCatchingUp. From here on every write replaces the entries of the item it finds by
//   those
//                   of the item it leaves, as for any other index
//   3. of a view V after that: for every item that the change log names between S0 and V, whatever entry it
//   had
//                   at S0 gives way to that of the item as it is. This is a unit of the commit pipeline, so
//                   that no write comes in between, and says the same however often and late it is done
//   4. ActivateIndex
//
// After 3 the index holds what the items say. An item that did not change up to V has its entry of S0, and
// writes after 2 replaced it if it changed later. An item that did: its entry of S0 is gone, unless it is the
// right one, and the right one was put.
#pragma once

#include "storage/engine/index_changes.h"
#include "storage/indexes/build_progress.h"

namespace itemdb {

// Fills the index and makes it ACTIVE. It must be kFilling, with nothing under its storage id. Blocks for as
// long as it takes; temporary files go to `directory`, which exists. NOT_FOUND: it was deleted meanwhile.
// CANCELLED. Otherwise what the store answers: there may be anything under its storage id then, and the next
// attempt needs another.
absl::Status FillIndex(Engine& engine, const BuildingIndex& building, const std::string& directory,
                       CancellationPtr cancellation, BuildProgress& progress);

}  // namespace itemdb
