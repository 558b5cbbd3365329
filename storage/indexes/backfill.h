// The backfill of an index that is created on a live table, while writes go on.
//
// The steps are those of ARCHITECTURE.md. Before this file: 1. one commit adds the index to the definition of
// its table, CREATING (schema/index_changes.h); 2. the thread of IndexBuilds finds it (index_builds.h). Then:
//
//   3. Scan (kBackfilling): reads every item, one part of the table after the other, each part in the view of
//      that moment, and sorts the entries into files. After each file the progress is saved (BuildState). The
//      changes from the first view on are pinned in the change log.
//   4. Write: takes a view V, writes the sorted entries into table files, and ingests these under the index's
//      storage id. Leaves out the entries of items that changed between the first view and V.
//   5. EnableIndexWrites (kCatchingUp): from here on every write replaces the entries of its item, as for any
//      other index.
//   6. Reconcile: takes a view W. Every item that changed up to W gets the entry that it should have, in
//      place of the entry that step 4 ingested for it, if any. Units of the commit pipeline do this, so no
//      write comes in between. It may be repeated or done late: the result is the same.
//   7. ActivateIndex.
//
// After step 6 the index matches the items:
//   - An item that did not change up to V has the entry of the view in which it was read, which is that of V.
//   - An item that changed up to V has no entry after step 4. Step 6 gives it the right one.
//   - An item that changed between V and W also gets the right entry in step 6.
//   - Later changes come after step 5, so their writes replace the entry.
#pragma once

#include "storage/indexes/build_progress.h"
#include "storage/indexes/build_state.h"
#include "storage/schema/index_changes.h"

namespace itemdb::storage {

// Backfills the index and makes it ACTIVE. The index must be kBackfilling, and its storage id must have no
// entries. Blocks until the backfill ends. Writes temporary files into `directory`, which must exist. Resumes
// from `*state` if that has runs, and keeps it up to date. The caller must pin the changes from
// `state->first_pinned_change` on. After an error the files of its runs still exist.
//
// NOT_FOUND: the index was deleted meanwhile. CANCELLED. RESOURCE_EXHAUSTED (DISK_FULL): the free space is
// below the floor. Other errors are those of the store; then the storage id may have any entries, and the
// next attempt needs a new one.
absl::Status BackfillIndex(Engine& engine, const BuildingIndex& building, const std::string& directory,
                           CancellationPtr cancellation, BuildProgress& progress, BuildState* state);

}  // namespace itemdb::storage
