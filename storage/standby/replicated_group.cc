#include "storage/standby/replicated_group.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "itemdb/v1/changes.pb.h"
#include "storage/indexes/index_entry.h"
#include "storage/keys/storage_id.h"
#include "storage/store/catalog_records.h"
#include "storage/store/dropped_keyspace.h"
#include "storage/store/sequence_key.h"
#include "storage/store/size_statistics.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {
namespace {

absl::Status DamagedGroup(const ArchivedGroup& archived, const std::string& what) {
  return DataLossError(absl::StrCat("the archive is damaged: the commit group with the changes ",
                                    archived.first_change, " to ", archived.last_change,
                                    " does not decode: ", what));
}

// Families have the same numbers in all stores.
rocksdb::ColumnFamilyHandle* FindFamily(const Store& store, uint32_t id) {
  for (int i = 0; i < Store::kFamilies; ++i) {
    rocksdb::ColumnFamilyHandle* const family = store.family(static_cast<Store::FamilyNumber>(i));
    if (family->GetID() == id) return family;
  }
  return nullptr;
}

std::optional<v1::ChangeRecord> DecodeChange(std::string_view key, std::string_view value) {
  const std::optional<StoredRecord> record = DecodeRecord(kChangesStorageId, key, value);
  v1::ChangeRecord change;
  if (!record.has_value() ||
      !change.ParseFromArray(record->payload.data(), static_cast<int>(record->payload.size())))
    return std::nullopt;
  return change;
}

class CheckRecords : public rocksdb::WriteBatch::Handler {
 public:
  CheckRecords(const Store& store, uint64_t first_change) : store_(store), next_change_(first_change) {}

  rocksdb::Status PutCF(uint32_t number, const rocksdb::Slice& key, const rocksdb::Slice& value) override {
    rocksdb::ColumnFamilyHandle* const family = FindFamily(store_, number);
    if (family == nullptr) return rocksdb::Status::Corruption("a column family");
    if (family == store_.changes()) {
      const auto change = DecodeChange(ToView(key), ToView(value));
      if (!change.has_value()) return rocksdb::Status::Corruption("a change record");
      if (change->change_sequence() != next_change_++)
        return rocksdb::Status::Corruption("a change record is missing");
    } else if (family == store_.stats()) {
      const std::optional<uint64_t> storage_id = ParseStorageIdKey(ToView(key));
      if (storage_id.has_value() && !DecodeStatistics(*storage_id, ToView(key), ToView(value)).has_value())
        return rocksdb::Status::Corruption("item counts");
    } else if (family == store_.catalog()) {
      return CheckCatalog(key, value);
    }
    return rocksdb::Status::OK();
  }
  rocksdb::Status DeleteCF(uint32_t number, const rocksdb::Slice&) override {
    return FindFamily(store_, number) != nullptr ? rocksdb::Status::OK()
                                                 : rocksdb::Status::Corruption("a column family");
  }

  uint64_t next_change() const { return next_change_; }
  // Not OK: a definition has parts that are not known.
  const absl::Status& unknown() const { return unknown_; }
  std::vector<v1::TableDescription> TakeTables() { return std::move(tables_); }

 private:
  rocksdb::Status CheckCatalog(const rocksdb::Slice& key, const rocksdb::Slice& value) {
    if (ToView(key) == kNextStorageIdKey && !DecodeCatalogNumber(ToView(key), ToView(value)).ok())
      return rocksdb::Status::Corruption("the next storage id");
    if (!key.starts_with(kTableKeyPrefix)) return rocksdb::Status::OK();
    auto definition = DecodeCatalogMessage<v1::TableDescription>(ToView(key), ToView(value));
    if (!definition.has_value()) return rocksdb::Status::Corruption("a table definition");
    unknown_.Update(CheckIsKnown(*definition));
    tables_.push_back(*std::move(definition));
    return rocksdb::Status::OK();
  }

  const Store& store_;
  uint64_t next_change_;
  std::vector<v1::TableDescription> tables_;
  absl::Status unknown_;
};

class AppendRecords : public rocksdb::WriteBatch::Handler {
 public:
  AppendRecords(Engine& engine, const Store& store, CommitGroup& group, IndexesWithSilentChanges& silent)
      : engine_(engine), store_(store), group_(group), silent_(silent) {}

  rocksdb::Status PutCF(uint32_t number, const rocksdb::Slice& key, const rocksdb::Slice& value) override {
    rocksdb::ColumnFamilyHandle* const family = FindFamily(store_, number);
    if (family == nullptr) return rocksdb::Status::Corruption("a column family");
    if (family == store_.catalog()) return PutCatalog(ToView(key), ToView(value));
    if (family == store_.changes()) return PutChange(ToView(key), ToView(value));
    // Written anew, from the changes of `group_`.
    if (family == store_.table_runs()) return rocksdb::Status::OK();
    const std::optional<uint64_t> storage_id =
        family == store_.stats() ? ParseStorageIdKey(ToView(key)) : std::nullopt;
    if (storage_id.has_value()) {
      const auto size_statistics = DecodeStatistics(*storage_id, ToView(key), ToView(value));
      if (!size_statistics.has_value()) return rocksdb::Status::Corruption("item counts");
      group_.size_statistics().Set(*storage_id, *size_statistics);
      return rocksdb::Status::OK();
    }
    if (family == store_.global_entries()) silent_.Entry(ToView(key));
    group_.PutReplicated(family, ToView(key), ToView(value));
    return rocksdb::Status::OK();
  }

  rocksdb::Status DeleteCF(uint32_t number, const rocksdb::Slice& key) override {
    rocksdb::ColumnFamilyHandle* const family = FindFamily(store_, number);
    if (family == nullptr) return rocksdb::Status::Corruption("a column family");
    const std::string_view name = ToView(key);
    if (family == store_.global_entries()) silent_.Entry(name);
    if (family == store_.catalog()) {
      if (name.starts_with(kDroppedKeyPrefix)) return rocksdb::Status::OK();
      const std::string_view prefix = kTableKeyPrefix;
      if (name.starts_with(prefix) && group_.catalog()->FindByName(name.substr(prefix.size())) != nullptr)
        group_.SetCatalog(group_.catalog()->Without(name.substr(prefix.size())));
    }
    const std::optional<uint64_t> storage_id =
        family == store_.stats() ? ParseStorageIdKey(name) : std::nullopt;
    if (storage_id.has_value()) {
      group_.DropStatistics(*storage_id);
      return rocksdb::Status::OK();
    }
    group_.DeleteReplicated(family, name);
    return rocksdb::Status::OK();
  }

 private:
  rocksdb::Status PutCatalog(std::string_view key, std::string_view record) {
    if (key == kChangesStartKey) return rocksdb::Status::OK();
    if (key == kNextStorageIdKey) {
      const absl::StatusOr<uint64_t> next = DecodeCatalogNumber(key, record);
      if (!next.ok()) return rocksdb::Status::Corruption("the next storage id");
      engine_.SkipStorageIds(*next);
    }
    if (key.starts_with(kTableKeyPrefix)) {
      auto definition = DecodeCatalogMessage<v1::TableDescription>(key, record);
      if (!definition.has_value()) return rocksdb::Status::Corruption("a table definition");
      auto table = std::make_shared<Table>(MakeTable(*std::move(definition)));
      const auto before = group_.catalog()->FindByName(table->name);
      const bool is_known = before != nullptr && before->storage_id == table->storage_id;
      table->patterns = is_known ? before->patterns : engine_.NewPatterns();
      if (is_known) ShareUsedUnits(*before, table.get());
      group_.SetCatalog(group_.catalog()->With(std::move(table)));
    }
    group_.PutReplicated(store_.catalog(), key, record);
    return rocksdb::Status::OK();
  }

  rocksdb::Status PutChange(std::string_view key, std::string_view value) {
    const std::optional<StoredRecord> record = DecodeRecord(kChangesStorageId, key, value);
    const std::optional<ChangeView> change = record.has_value() ? ViewChange(record->payload) : std::nullopt;
    if (!change.has_value()) return rocksdb::Status::Corruption("a change record");
    silent_.Change(*change);
    group_.PutReplicatedChange(change->table_storage_id, key, value);
    return rocksdb::Status::OK();
  }

  Engine& engine_;
  const Store& store_;
  CommitGroup& group_;
  IndexesWithSilentChanges& silent_;
};

}  // namespace

IndexesWithSilentChanges::IndexesWithSilentChanges(const Catalog& catalog) {
  for (const auto& table : catalog) {
    for (const Index& index : table->indexes) {
      if (!index.vector.has_value()) continue;
      indexes_[index.storage_id] = {table, &index};
      tables_[table->storage_id] = table;
    }
  }
}

void IndexesWithSilentChanges::Entry(std::string_view stored_key) {
  if (indexes_.empty()) return;
  const std::optional<uint64_t> storage_id = ConsumeStorageId(&stored_key);
  const auto found = storage_id.has_value() ? indexes_.find(*storage_id) : indexes_.end();
  if (found == indexes_.end()) return;
  const auto& [table, index] = found->second;
  const std::optional<std::string_view> base_key = BaseKeyOf(*table, *index, stored_key);
  if (base_key.has_value()) {
    entries_[{table->storage_id, std::string(*base_key)}].insert(*storage_id);
  } else {
    found_.insert(*storage_id);  // It belongs to no item.
  }
}

void IndexesWithSilentChanges::Change(const ChangeView& change) {
  const auto table = tables_.find(change.table_storage_id);
  if (table == tables_.end() || change.key.empty()) return;
  const absl::StatusOr<std::string> key = EncodePrimaryKey(*table->second, ItemView(change.key));
  if (key.ok()) changed_.emplace(change.table_storage_id, *key);
}

void IndexesWithSilentChanges::EndGroup() {
  for (const auto& [item, indexes] : entries_) {
    if (!changed_.contains(item)) found_.insert(indexes.begin(), indexes.end());
  }
  entries_.clear();
  changed_.clear();
}

absl::StatusOr<std::vector<v1::TableDescription>> CheckReplicated(const ArchivedGroup& archived,
                                                                  const Store& store) {
  CheckRecords check(store, archived.first_change);
  if (const rocksdb::Status read = archived.batch.Iterate(&check); !read.ok())
    return DamagedGroup(archived, read.ToString());
  if (check.next_change() != archived.last_change + 1) return DamagedGroup(archived, "changes are missing");
  ITEMDB_RETURN_IF_ERROR(check.unknown());
  return check.TakeTables();
}

absl::Status AppendReplicated(Engine& engine, const Store& store, const ArchivedGroup& archived,
                              CommitGroup& group, IndexesWithSilentChanges* silent) {
  AppendRecords append(engine, store, group, *silent);
  if (const rocksdb::Status read = archived.batch.Iterate(&append); !read.ok())
    return DamagedGroup(archived, read.ToString());
  silent->EndGroup();
  group.EndReplicated(archived.commit_time_us);
  return absl::OkStatus();
}

}  // namespace itemdb::storage
