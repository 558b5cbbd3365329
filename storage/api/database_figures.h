// What the metrics page shows of a database, beside GetStatus.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "itemdb/v1/admin.pb.h"
#include "storage/base/histogram.h"

namespace itemdb::storage {

// Units in a commit group.
inline constexpr std::array<uint64_t, 11> kGroupUnitBounds = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1'024};

// Since the start.
struct CommitFigures {
  // Writing a group to the write-ahead log and to memtables; with durability `durable` also its sync.
  LatencyCounts write_us;
  HistogramCounts<kGroupUnitBounds.size()> group_units;
};

// Of RocksDB, now.
struct StoreFigures {
  struct Family {
    std::string name;
    uint64_t level0_files = 0;
    uint64_t pending_compaction_bytes = 0;
  };
  std::vector<Family> families;
  uint64_t running_compactions = 0;
  uint64_t running_flushes = 0;
  // RocksDB accepts no writes until compactions have caught up; or slows them down to this many bytes per
  // second (0: it does not).
  bool writes_stopped = false;
  uint64_t delayed_write_rate = 0;
  // When the oldest snapshot was made that keeps what was deleted or replaced since, in seconds since 1970;
  // 0: there is none.
  uint64_t oldest_snapshot_time_s = 0;
};

// Of vector indexes.
struct VectorFigures {
  // Copies in memory, their entries and bytes, now.
  int64_t copies = 0;
  int64_t entries = 0;
  int64_t bytes = 0;
  // Entries that are in graphs.
  int64_t graph_entries = 0;
  // Since the start: copies made, and searches that read the store because the index did not fit into memory.
  int64_t copies_made = 0;
  int64_t searches_of_store = 0;
};

struct DatabaseFigures {
  // With all tables.
  v1::GetStatusReply status;
  CommitFigures commits;
  StoreFigures store;
  VectorFigures vectors;
  // False while the store is opened again after a write that failed: tables and store are missing.
  bool has_store = false;
};

}  // namespace itemdb::storage
