// Filling a copy with the entries of its index, and bringing it to a later state.
#pragma once

#include "storage/engine/engine.h"
#include "storage/vectors/shared_copy.h"

namespace itemdb::storage {

// Counts `bytes` as the memory of the copy.
using CountVectorBytes = absl::FunctionRef<absl::StatusOr<VectorFit>(size_t bytes)>;

// The state that a copy shall have, and how that is done. Borrows all.
struct CopyUpdate {
  Engine& engine;
  const ReadView& view;
  const Table& table;
  const Index& index;
  CountVectorBytes count;
  // Its errors end the update.
  VectorCheck check;
};

// Puts all entries into the empty `copy`. `progress` gets their number so far. The errors are those of
// `check`; DATA_LOSS: an entry cannot be read. Unless it fits, the copy is of no use.
absl::StatusOr<VectorFit> FillCopy(const CopyUpdate& update, absl::FunctionRef<void(int64_t)> progress,
                                   SharedCopy* copy);

// Takes in what the change log names since the state of the copy. Searches go on meanwhile.
//
// OUT_OF_RANGE: more than `most_keys` items have changed, or changes were trimmed. DATA_LOSS: an item cannot
// be read. Errors of `check`. After an error the copy may be caught up again.
absl::StatusOr<VectorFit> CatchUp(const CopyUpdate& update, size_t most_keys, SharedCopy* copy);

// What an entry of the index takes in a copy, at least.
size_t LeastEntryBytes(const Index& index);

}  // namespace itemdb::storage
