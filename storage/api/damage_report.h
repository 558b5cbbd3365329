// What the offline functions (storage/offline.h) find in a data directory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace itemdb::storage {

// A table file that is missing or damaged.
struct DamagedFileReport {
  std::string name;
  // The column family; empty when the file does not say and no manifest names it.
  std::string family;
  uint64_t bytes = 0;
  // Whether the records of its undamaged blocks are readable.
  bool is_partly_readable = false;
  // What RocksDB says about the damage.
  std::string error;
};

struct TableReport {
  std::string name;
  // The size statistics of the table, if they are readable. Writes that the directory has lost count.
  std::optional<int64_t> recorded_items;
  int64_t readable_items = 0;
};

// What a recovery with losses makes of a directory.
struct RecoveryReport {
  // The damage for which the directory is refused; empty for none.
  std::string cause;
  std::string database_id;
  // The last change that is known to have been durable.
  uint64_t durable_sequence = 0;
  // All changes up to this one are readable; nullopt when lost table files may have had any change.
  std::optional<uint64_t> readable_sequence;
  // Where the change log begins after the recovery.
  uint64_t next_sequence = 0;
  std::vector<DamagedFileReport> damaged_files;
  // Column families that are not readable as a whole. All but the items and the catalog are computed again
  // or, like the change log, begin anew.
  std::vector<std::string> unreadable_families;
  // In name order.
  std::vector<TableReport> tables;
  // Readable items of tables whose definition is lost or that are deleted.
  int64_t items_without_table = 0;
  // Items whose record has a wrong checksum.
  int64_t damaged_items = 0;
  // Damaged blocks of items, those next to each other counted once.
  int64_t damaged_ranges = 0;
  // Items of which only a version is readable that may not be the newest: that may be in a damaged block.
  int64_t items_in_doubt = 0;
};

struct FileReport {
  std::string name;
  // The id of the encryption key that it needs; empty: it is not encrypted.
  std::string key_id;
  uint64_t bytes = 0;
  // The column family of a table file that can be opened; else empty.
  std::string family;
  // Of a table file: its entries.
  uint64_t entries = 0;
  // What is wrong with the file; empty for nothing. Only table files are read.
  std::string damage;
};

}  // namespace itemdb::storage
