// The torn end of the write-ahead log that a power cut leaves.
//
// A power cut may leave any mixture of written bytes, zeros and garbage in place of bytes that were not
// synced. No acknowledged write needs these bytes, so they must not keep the database from opening.
#pragma once

#include "storage/base/status.h"
#include "storage/store/store.h"

namespace itemdb::storage {

// Whether all damage in the write-ahead log is in writes that were not acknowledged as durable. Called when
// the log does not verify; opens the store read-only, twice.
//
// In durable mode a commit group is written after the group before it was synced. So when an intact group
// comes after the damage, the damaged group had been synced, and the answer is false. In relaxed mode
// (StoreOptions::sync_closed_logs) intact groups after the damage prove nothing. In both modes the caller
// must check that the log still reaches the durability watermark when it is read up to the damage
// (rocksdb::WALRecoveryMode::kPointInTimeRecovery).
bool IsTornTail(StoreOptions options);

}  // namespace itemdb::storage
