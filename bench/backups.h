// `itembench backups`: times and sizes of backups, restores, exports and imports of a large table.
#pragma once

#include <cstdint>

#include "bench/session.h"

namespace itemdb::bench {

struct BackupsOptions {
  // Items of the table, which has a global and a local index. A hundredth of them is written again before the
  // incremental backup.
  uint64_t items = 1'000'000;
  // The table is imported, with two global indexes of the keys, and only its backups and the lag of the
  // archive are measured. Otherwise it is written, which takes ten times as long and has the database in the
  // archive too.
  bool imports = false;
  // Threads that write while the lag of the archive is measured, with one put in flight each.
  int writers = 4;
  // How long that is measured.
  double seconds = 5;
};

// Uses storage in this process.
absl::Status RunBackups(Session& session, const BackupsOptions& options);

}  // namespace itemdb::bench
