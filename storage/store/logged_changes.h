// What the write-ahead log holds of the change log, found while RocksDB reads and verifies it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rocksdb/wal_filter.h"

namespace itemdb {

// Changes that follow each other without a gap.
struct ChangeRun {
  uint64_t first = 0;
  uint64_t last = 0;
};

// Given to Store::OpenReadOnly: RocksDB shows it each batch of the log, with its checksum verified, and puts
// none of them into memory. It knows the operations that the engine writes, Put and Delete; any other is told
// as damage.
class LoggedChanges : public rocksdb::WalFilter {
 public:
  const char* Name() const override { return "itemdb.LoggedChanges"; }
  void ColumnFamilyLogNumberMap(const std::map<uint32_t, uint64_t>& first_logs,
                                const std::map<std::string, uint32_t>& ids) override;
  WalProcessingOption LogRecordFound(unsigned long long log_number, const std::string& log_file_name,
                                     const rocksdb::WriteBatch& batch, rocksdb::WriteBatch* new_batch,
                                     bool* batch_changed) override;

  // Why a batch was refused; OK when none was.
  const rocksdb::Status& status() const { return status_; }
  // In the order of the log; what table files hold too may be among them.
  const std::vector<ChangeRun>& runs() const { return runs_; }
  // The last record of catalog_records.h's kChangesStartKey, empty for none.
  const std::string& changes_start() const { return changes_start_; }

 private:
  class BatchReader;

  // A column family, and the first log that has something of it which is not in a table file.
  struct Family {
    uint32_t id = 0;
    uint64_t first_log = 0;
    bool exists = false;
  };

  Family changes_;
  Family catalog_;
  rocksdb::Status status_;
  std::vector<ChangeRun> runs_;
  std::string changes_start_;
};

}  // namespace itemdb
