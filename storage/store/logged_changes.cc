#include "storage/store/logged_changes.h"

#include <string_view>

#include "rocksdb/write_batch.h"
#include "storage/store/catalog_records.h"
#include "storage/store/sequence_key.h"
#include "storage/store/store.h"

namespace itemdb::storage {

// Reads one batch into LoggedChanges.
class LoggedChanges::BatchReader : public rocksdb::WriteBatch::Handler {
 public:
  BatchReader(LoggedChanges* changes, uint64_t log_number) : changes_(*changes), log_number_(log_number) {}

  rocksdb::Status PutCF(uint32_t family, const rocksdb::Slice& key, const rocksdb::Slice& value) override {
    if (Counts(changes_.changes_, family)) return TakeChange(ToView(key));
    if (Counts(changes_.catalog_, family) && ToView(key) == kChangesStartKey)
      changes_.changes_start_ = value.ToString();
    return rocksdb::Status::OK();
  }
  rocksdb::Status DeleteCF(uint32_t, const rocksdb::Slice&) override { return rocksdb::Status::OK(); }

 private:
  bool Counts(const Family& family, uint32_t id) const {
    return family.exists && family.id == id && log_number_ >= family.first_log;
  }

  rocksdb::Status TakeChange(std::string_view key) {
    const std::optional<uint64_t> sequence = ParseSequenceKey(key);
    if (!sequence.has_value())
      return rocksdb::Status::Corruption("the change log holds a key that is no change sequence");
    std::vector<ChangeRun>& runs = changes_.runs_;
    if (!runs.empty() && runs.back().last + 1 == *sequence) {
      runs.back().last = *sequence;
    } else {
      runs.push_back({*sequence, *sequence});
    }
    return rocksdb::Status::OK();
  }

  LoggedChanges& changes_;
  const uint64_t log_number_;
};

void LoggedChanges::ColumnFamilyLogNumberMap(const std::map<uint32_t, uint64_t>& first_logs,
                                             const std::map<std::string, uint32_t>& ids) {
  const auto find = [&](const char* name) {
    Family family;
    const auto id = ids.find(name);
    if (id == ids.end()) return family;
    family.exists = true;
    family.id = id->second;
    if (const auto first = first_logs.find(family.id); first != first_logs.end())
      family.first_log = first->second;
    return family;
  };
  changes_ = find(Store::kFamilyNames[Store::kChanges]);
  catalog_ = find(Store::kFamilyNames[Store::kCatalog]);
}

rocksdb::WalFilter::WalProcessingOption LoggedChanges::LogRecordFound(unsigned long long log_number,
                                                                      const std::string&,
                                                                      const rocksdb::WriteBatch& batch,
                                                                      rocksdb::WriteBatch*, bool*) {
  ++batches_;
  BatchReader reader(this, log_number);
  status_ = batch.Iterate(&reader);
  if (on_batch_ && changes_.exists && status_.ok()) on_batch_(batch, changes_.id);
  return status_.ok() ? batch_read_ : WalProcessingOption::kCorruptedRecord;
}

}  // namespace itemdb::storage
