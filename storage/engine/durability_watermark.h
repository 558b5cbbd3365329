// WATERMARK: a small file beside RocksDB's directory that says which database this is and how far it was
// durable.
//
// RocksDB does not notice a deleted, cut or older write-ahead log. The watermark does: what is recovered must
// reach at least its change sequence. It is replaced (write, sync, rename) at least every second of writing
// and at stop, always with a sequence that is durable already.
//
//   itemdb database
//   format 2.2
//   database 7b0c3ad2-...
//   sequence 1234
//   recovering                      only while a recovery with losses is under way
//   checksum 0123456789abcdef       XXH3-64 of the lines above
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rocksdb/env.h"
#include "storage/base/status.h"

namespace itemdb {

// The version of everything on disk. An unknown one refuses to open (invariant FormatKnown).
//   1   a column family per table and per index (until 0.1)
//   2   column families by role, shared by all tables
// Until 0.2 is released format 2 changes in place: the revision tells directories of programs that were not
// released.
//   2.2   the runs of each table's changes (table_runs.h)
inline constexpr int kFormatVersion = 2;
inline constexpr int kFormatRevision = 2;
inline constexpr char kWatermarkFileName[] = "WATERMARK";

struct DurabilityWatermark {
  // A UUID.
  std::string database_id;
  // Every change up to this one was durable when the watermark was written.
  uint64_t sequence = 0;
  // A recovery with losses was begun and not finished: what is there may lack anything, however complete it
  // looks.
  bool recovering = false;
};

// Nothing when there is no watermark in `directory`. FAILED_PRECONDITION (FORMAT_UNKNOWN): its format is not
// ours. DATA_LOSS: it is damaged.
absl::StatusOr<std::optional<DurabilityWatermark>> ReadWatermark(rocksdb::Env* env,
                                                                 const std::string& directory);

// Replaces the watermark in `directory`. Durable on return. UNAVAILABLE on I/O errors.
absl::Status WriteWatermark(rocksdb::Env* env, const std::string& directory,
                            const DurabilityWatermark& watermark);

}  // namespace itemdb
