// Finds the change records in the write-ahead log while RocksDB reads and verifies it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/options.h"
#include "rocksdb/wal_filter.h"

namespace itemdb::storage {

// Change sequences without a gap.
struct ChangeRun {
  uint64_t first = 0;
  uint64_t last = 0;
};

// Passed to Store::OpenReadOnly. RocksDB calls it for each batch of the write-ahead log, after it verified
// the checksum. Accepts only Put and Delete, which the engine writes; others are reported as damage.
class LoggedChanges : public rocksdb::WalFilter {
 public:
  // `mode`: the recovery mode of the store. In point-in-time mode the batches are put into memtables, because
  // after a damaged record RocksDB goes on with the next log only if that begins with the sequence number
  // after the last batch it applied. In other modes no batch is put into memory.
  // `on_batch` is called with each batch, and the number of the family of changes; may be empty.
  explicit LoggedChanges(rocksdb::WALRecoveryMode mode,
                         std::function<void(const rocksdb::WriteBatch&, uint32_t)> on_batch = {})
      : on_batch_(std::move(on_batch)),
        batch_read_(mode == rocksdb::WALRecoveryMode::kPointInTimeRecovery
                        ? WalProcessingOption::kContinueProcessing
                        : WalProcessingOption::kIgnoreCurrentRecord) {}

  const char* Name() const override { return "itemdb.LoggedChanges"; }
  void ColumnFamilyLogNumberMap(const std::map<uint32_t, uint64_t>& first_logs,
                                const std::map<std::string, uint32_t>& ids) override;
  WalProcessingOption LogRecordFound(unsigned long long log_number, const std::string& log_file_name,
                                     const rocksdb::WriteBatch& batch, rocksdb::WriteBatch* new_batch,
                                     bool* batch_changed) override;

  // Why a batch was refused. OK when none was refused.
  const rocksdb::Status& status() const { return status_; }
  // The changes in the order of the write-ahead log. Some of them may also be in table files.
  const std::vector<ChangeRun>& runs() const { return runs_; }
  // Batches that were read.
  int64_t batches() const { return batches_; }
  // The last record under kChangesStartKey (catalog_records.h). Empty when the write-ahead log has none.
  const std::string& changes_start() const { return changes_start_; }

 private:
  class BatchReader;

  // A column family, and the first log with data of the family that is not in a table file.
  struct Family {
    uint32_t id = 0;
    uint64_t first_log = 0;
    bool exists = false;
  };

  const std::function<void(const rocksdb::WriteBatch&, uint32_t)> on_batch_;
  // What RocksDB does with a batch that was read.
  const WalProcessingOption batch_read_;
  Family changes_;
  Family catalog_;
  int64_t batches_ = 0;
  rocksdb::Status status_;
  std::vector<ChangeRun> runs_;
  std::string changes_start_;
};

}  // namespace itemdb::storage
