// Table runs: which changes of the change log belong to which table. They let a reader find the changes of
// one table without reading those of other tables. Stored in the family `table_runs`:
//
//   key     epoch, 4 bytes big-endian | storage id (keys/storage_id.h) | first change, 8 bytes big-endian
//   record  for each run: varint number of changes of other tables since the run before, varint length
//
// An epoch is 2^20 changes. A commit group writes one record for each table that it changes, and one more
// when its changes reach into the next epoch. The records of a table do not overlap. Keys begin with the
// epoch, so old records are in table files of their own; trimming deletes these files with those of the
// change log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace itemdb::storage {

// `length` successive changes of one table.
struct TableRun {
  uint64_t storage_id = 0;
  uint64_t first = 0;
  uint64_t length = 0;

  // The sequence after the last change of the run.
  uint64_t end() const { return first + length; }
  bool operator==(const TableRun&) const = default;
};

uint64_t EpochOf(uint64_t sequence);
// The first sequence of the next epoch.
uint64_t EndOfEpoch(uint64_t epoch);
// The prefix of all keys of an epoch; with `storage_id`, of the keys of one table in that epoch.
std::string TableRunsPrefix(uint64_t epoch);
std::string TableRunsPrefix(uint64_t epoch, uint64_t storage_id);
std::string TableRunsKey(uint64_t storage_id, uint64_t first);
// The first change of the record under `key`; 0 when the key is malformed.
uint64_t FirstOfTableRuns(std::string_view key);

// Collects the runs of one commit group while its changes are appended.
class TableRunsOfGroup {
 public:
  // Must be called once for each sequence, in ascending order.
  void Add(uint64_t storage_id, uint64_t sequence);

  struct Record {
    std::string key;
    std::string value;
  };
  const std::vector<TableRun>& runs() const { return runs_; }
  // The records to store.
  std::vector<Record> Encode() const;

 private:
  std::vector<TableRun> runs_;
};

// The runs of one stored record, in order; nullopt when the record is damaged.
std::optional<std::vector<TableRun>> DecodeTableRuns(std::string_view key, std::string_view record);

}  // namespace itemdb::storage
