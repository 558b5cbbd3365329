// What the metrics page shows of a database, beside GetStatus.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "itemdb/v1/admin.pb.h"
#include "itemdb/v1/tables.pb.h"
#include "storage/base/histogram.h"

namespace itemdb::storage {

// Units in a commit group.
inline constexpr std::array<uint64_t, 11> kGroupUnitBounds = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1'024};

// Since the start.
struct CommitFigures {
  // Writing a group to the write-ahead log and to memtables; with durability `durable` also its sync.
  LatencyCounts write_us;
  HistogramCounts<kGroupUnitBounds.size()> group_units;
  // Now: for how long the group has been written that queued writes wait for; 0: none is queued.
  std::chrono::nanoseconds queue_wait{0};
};

// Of RocksDB, now.
struct StoreFigures {
  struct Family {
    std::string name;
    uint64_t level0_files = 0;
    uint64_t pending_compaction_bytes = 0;
  };
  std::vector<Family> families;
  // Bytes of the table files of each level, of all families.
  std::vector<uint64_t> level_bytes;
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

// Of RocksDB, since the start.
struct StoreTotals {
  // Blocks that were looked up in the block cache.
  struct Lookups {
    uint64_t hits = 0;
    uint64_t misses = 0;
  };
  Lookups data_blocks;
  Lookups index_blocks;
  Lookups filter_blocks;
  uint64_t compaction_read_bytes = 0;
  uint64_t compaction_written_bytes = 0;
  uint64_t flushed_bytes = 0;
  // How long writes were held back until compactions had caught up, in microseconds.
  uint64_t stall_us = 0;
};

// Of one table.
struct TableFigures {
  // Capacity units that requests have used since the start (SEM-061 to SEM-065).
  struct Units {
    double read = 0;
    double write = 0;
  };
  struct Index {
    std::string name;
    Units used;
    // Of an index that is being created.
    std::optional<v1::IndexBuild> build;
  };
  std::string name;
  // Of the table without its indexes.
  Units used;
  // The time-to-live index only while it is being created.
  std::vector<Index> indexes;
  // Items deleted since the start because their time was over; nullopt: the table has no time to live.
  std::optional<int64_t> expired_items;
};

// The round under way of the background check.
struct CheckRoundFigures {
  // Records of tables and indexes that it has compared, and how many there are.
  int64_t compared = 0;
  int64_t records = 0;
};

// Of vector indexes.
struct VectorFigures {
  // Copies in memory, their entries and bytes, now.
  int64_t copies = 0;
  int64_t entries = 0;
  int64_t bytes = 0;
  // Entries that are in graphs.
  int64_t graph_entries = 0;
  // Copies that are being made, and their entries so far and in the end.
  int64_t loading = 0;
  int64_t loaded_entries = 0;
  int64_t entries_to_load = 0;
  // Since the start: copies made, and searches that read the store because the index did not fit into memory.
  int64_t copies_made = 0;
  int64_t searches_of_store = 0;
  // Entries that got their place in a graph from a file.
  int64_t restored_graph_entries = 0;
};

struct DatabaseFigures {
  // With all tables.
  v1::GetStatusReply status;
  // The oldest change that may be read.
  uint64_t first_change = 0;
  CommitFigures commits;
  StoreFigures store;
  StoreTotals store_totals;
  std::vector<TableFigures> tables;
  CheckRoundFigures check_round;
  VectorFigures vectors;
  // False while the store is opened again after a write that failed: tables and store are missing.
  bool has_store = false;
};

}  // namespace itemdb::storage
