// WATERMARK: a small file beside RocksDB's directory. It holds the id of the database and a change sequence
// that is known to be durable.
//
// RocksDB does not notice a write-ahead log that was deleted, cut or replaced by an older one. The watermark
// shows it: the recovered change log must reach at least the watermark's sequence. While changes are written
// the file is replaced (write, sync, rename) every second, and when the database stops, always with a
// sequence that is durable already.
//
//   itemdb database
//   format 2.2
//   database 7b0c3ad2-...
//   sequence 1234
//   recovering 1                    only while a recovery with losses puts its result into place: the number
//                                   of its quarantine (quarantine.h)
//   checksum 0123456789abcdef       XXH3-64 of the lines above
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rocksdb/env.h"
#include "storage/base/status.h"

namespace itemdb::storage {

// The version of all files on disk. A directory with another version is not opened (invariant FormatKnown).
//   1   a column family per table and per index (until 0.1)
//   2   column families by role, shared by all tables
// Until 0.2 is released format 2 may change; then the revision changes. So directories that unreleased
// programs wrote are recognised.
//   2.2   the runs of each table's changes (table_runs.h)
inline constexpr int kFormatVersion = 2;
inline constexpr int kFormatRevision = 2;
inline constexpr char kWatermarkFileName[] = "WATERMARK";

struct DurabilityWatermark {
  // A UUID.
  std::string database_id;
  // Every change up to this one was durable when the watermark was written.
  uint64_t sequence = 0;
  // Not 0: a recovery with losses was interrupted while it put its result into place. The number of its
  // quarantine.
  int recovering = 0;
};

// nullopt: there is no watermark in `directory`. FAILED_PRECONDITION (FORMAT_UNKNOWN): another format version
// or revision. DATA_LOSS: the file is damaged. UNAVAILABLE: it cannot be read.
absl::StatusOr<std::optional<DurabilityWatermark>> ReadWatermark(rocksdb::Env* env,
                                                                 const std::string& directory);

// Replaces the watermark in `directory`. Durable on return. UNAVAILABLE on I/O errors.
absl::Status WriteWatermark(rocksdb::Env* env, const std::string& directory,
                            const DurabilityWatermark& watermark);

}  // namespace itemdb::storage
