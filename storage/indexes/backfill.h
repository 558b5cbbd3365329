// Filling an index that is created on a live table, while writes go on.
//
// clang-format off
//   1. kFilling     read every item, a part of the table after the other, each in the state of that moment, and
//                   sort the entries into files. After each file a note is made of how far this is (BuildState);
//                   the log keeps the changes from the first state on
//   2.              of a view V: write the sorted entries into table files and put those into the family, under
//                   the index's storage id. Left out are those of items that changed since the first state
//   3. MaintainIndex: kCatchingUp. From here on every write replaces the entries of the item it finds by those
//                   of the item it leaves, as for any other index
//   4.              of a view W after that: every item that changed up to W gets the entry it should have, in
//                   place of that of V if it was put. This is a unit of the commit pipeline, so that no write
//                   comes in between, and says the same however often and late it is done
//   5. ActivateIndex
// clang-format on
//
// After 4 the index holds what the items say. An item that did not change up to V has the entry of the state
// in which it was read, which is that of V. One that did has none after 2, wherever it was read. An item that
// changed up to W has the right one after 4, and writes after 3 replaced it if it changed later.
#pragma once

#include "storage/indexes/build_progress.h"
#include "storage/indexes/build_state.h"
#include "storage/schema/index_changes.h"

namespace itemdb {

// Fills the index and makes it ACTIVE. It must be kFilling, with nothing under its storage id. Blocks for as
// long as it takes; temporary files go to `directory`, which exists. Goes on from `state`, if that has runs,
// and keeps it up to date; its changes must be kept in the log. The files of its runs are there after an
// error.
//
// NOT_FOUND: the index was deleted meanwhile. CANCELLED. RESOURCE_EXHAUSTED (DISK_FULL): less is free than
// the floor. Otherwise what the store answers: there may be anything under its storage id then, and the next
// attempt needs another.
absl::Status FillIndex(Engine& engine, const BuildingIndex& building, const std::string& directory,
                       CancellationPtr cancellation, BuildProgress& progress, BuildState* state);

}  // namespace itemdb
