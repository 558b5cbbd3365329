// Which changes of the change log are of which table, so that those of one table are found without reading
// the others (family `table_runs`).
//
//   key     epoch, 4 bytes big-endian | storage id (keys/storage_id.h) | first change, 8 bytes big-endian
//   record  of each run of changes: varint changes of other tables since the run before, varint length
//
// An epoch is 2^20 changes. A commit group writes one record for each table that it changes, one more when it
// reaches into the next epoch; the records of a table do not overlap. As keys begin with the epoch, the
// oldest ones are in files of their own, which are deleted with those of the change log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace itemdb {

// `length` successive changes of one table.
struct TableRun {
  uint64_t storage_id = 0;
  uint64_t first = 0;
  uint64_t length = 0;

  // The change behind it.
  uint64_t end() const { return first + length; }
  bool operator==(const TableRun&) const = default;
};

uint64_t EpochOf(uint64_t sequence);
// The first change behind it.
uint64_t EndOfEpoch(uint64_t epoch);
// What the keys of a table's records begin with; without a table, of those of all.
std::string TableRunsPrefix(uint64_t epoch);
std::string TableRunsPrefix(uint64_t epoch, uint64_t storage_id);
std::string TableRunsKey(uint64_t storage_id, uint64_t first);
// The first change of the record under `key`; 0 when it is no such key.
uint64_t FirstOfTableRuns(std::string_view key);

// The runs of one commit group, as its changes are appended.
class TableRunsOfGroup {
 public:
  // To be called with each sequence once, in order.
  void Add(uint64_t storage_id, uint64_t sequence);

  struct Record {
    std::string key;
    std::string value;
  };
  const std::vector<TableRun>& runs() const { return runs_; }
  // What is to be stored.
  std::vector<Record> Encode() const;

 private:
  std::vector<TableRun> runs_;
};

// The runs of one stored record, in order; nothing when it is damaged.
std::optional<std::vector<TableRun>> DecodeTableRuns(std::string_view key, std::string_view record);

}  // namespace itemdb
