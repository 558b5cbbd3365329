#include "storage/schema/restoring_tables.h"

#include <memory>
#include <utility>

namespace itemdb::storage {
namespace {

std::string RestoringKey(std::string_view table_name) {
  return std::string(kRestoringKeyPrefix).append(table_name);
}

template <typename Message>
void PutMessage(const std::string& key, const Message& message, CommitGroup& group) {
  group.PutCatalog(key, EncodeRecord(kCatalogStorageId, key, 0, message.SerializeAsString()));
}

// Reads all records whose keys begin with `prefix`.
template <typename Message>
absl::StatusOr<std::vector<Message>> ReadMessages(const ReadView& view, std::string_view prefix) {
  rocksdb::ReadOptions options;
  options.snapshot = view.snapshot();
  std::vector<Message> messages;
  std::unique_ptr<rocksdb::Iterator> it = view.store()->NewIterator(options, view.store()->catalog());
  for (it->Seek(ToSlice(prefix)); it->Valid() && it->key().starts_with(ToSlice(prefix)); it->Next()) {
    const std::optional<Message> message =
        DecodeCatalogMessage<Message>(ToView(it->key()), ToView(it->value()));
    if (!message.has_value())
      return DataLossError("the catalog record " + it->key().ToString() + " is damaged");
    messages.push_back(*message);
  }
  if (!it->status().ok()) return view.store()->ReadError("cannot read the catalog", it->status());
  return messages;
}

}  // namespace

absl::StatusOr<std::optional<v1::RestoringTable>> FindRestoringTable(const ReadView& view,
                                                                     std::string_view table_name) {
  rocksdb::ReadOptions options;
  options.snapshot = view.snapshot();
  const std::string key = RestoringKey(table_name);
  std::string record;
  const rocksdb::Status status = view.store()->db()->Get(options, view.store()->catalog(), key, &record);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return view.store()->ReadError("cannot read the catalog", status);
  std::optional<v1::RestoringTable> table = DecodeCatalogMessage<v1::RestoringTable>(key, record);
  if (!table.has_value()) return DataLossError("the catalog record " + key + " is damaged");
  return table;
}

absl::StatusOr<std::vector<v1::RestoringTable>> FindRestoringTables(const ReadView& view) {
  return ReadMessages<v1::RestoringTable>(view, kRestoringKeyPrefix);
}

void PutRestoringTable(const v1::RestoringTable& table, CommitGroup& group) {
  PutMessage(RestoringKey(table.definition().table_name()), table, group);
}

void DeleteRestoringTable(std::string_view table_name, CommitGroup& group) {
  group.DeleteCatalog(RestoringKey(table_name));
}

absl::StatusOr<std::vector<v1::DeletedTable>> FindDeletedTables(const ReadView& view) {
  return ReadMessages<v1::DeletedTable>(view, kDeletedTableKeyPrefix);
}

void PutDeletedTable(const v1::DeletedTable& table, CommitGroup& group) {
  PutMessage(DeletedTableKey(table.definition().storage_id()), table, group);
}

void DeleteDeletedTable(uint64_t storage_id, CommitGroup& group) {
  group.DeleteCatalog(DeletedTableKey(storage_id));
}

}  // namespace itemdb::storage
