#include "storage/store/dropped_keyspace.h"

#include "storage/store/sequence_key.h"
#include "storage/values/stored_record.h"
#include "storage/values/wire.h"

namespace itemdb::storage {
namespace {

std::optional<DroppedKeyspace> Decode(std::string_view key, std::string_view value) {
  std::optional<StoredRecord> record = DecodeRecord(kCatalogStorageId, key, value);
  const std::optional<uint64_t> storage_id =
      ParseStorageIdKey(key.substr(std::string_view(kDroppedKeyPrefix).size()));
  uint64_t kind, bytes, time_us;
  if (!record.has_value() || !storage_id.has_value() || !wire::ConsumeVarint(&record->payload, &kind) ||
      !wire::ConsumeVarint(&record->payload, &bytes) || !wire::ConsumeVarint(&record->payload, &time_us) ||
      kind < static_cast<uint64_t>(KeyspaceKind::kItems) ||
      kind > static_cast<uint64_t>(KeyspaceKind::kLocalEntries)) {
    return std::nullopt;
  }
  return DroppedKeyspace{*storage_id, static_cast<KeyspaceKind>(kind), static_cast<int64_t>(bytes),
                         static_cast<int64_t>(time_us)};
}

}  // namespace

std::string DroppedKey(uint64_t storage_id) { return kDroppedKeyPrefix + StorageIdKey(storage_id); }

std::string EncodeDropped(const DroppedKeyspace& dropped) {
  std::string payload;
  wire::AppendVarint(static_cast<uint64_t>(dropped.kind), &payload);
  wire::AppendVarint(static_cast<uint64_t>(dropped.bytes), &payload);
  wire::AppendVarint(static_cast<uint64_t>(dropped.time_us), &payload);
  return EncodeRecord(kCatalogStorageId, DroppedKey(dropped.storage_id), 0, payload);
}

absl::StatusOr<std::vector<DroppedKeyspace>> ReadDropped(const Store& store,
                                                         const rocksdb::Snapshot* snapshot) {
  std::vector<DroppedKeyspace> all;
  rocksdb::ReadOptions options;
  options.snapshot = snapshot;
  std::unique_ptr<rocksdb::Iterator> it = store.NewIterator(options, store.catalog());
  for (it->Seek(kDroppedKeyPrefix); it->Valid() && it->key().starts_with(kDroppedKeyPrefix); it->Next()) {
    std::optional<DroppedKeyspace> dropped = Decode(ToView(it->key()), ToView(it->value()));
    if (!dropped.has_value())
      return DataLossError("the catalog's record of a deleted table or index is damaged");
    all.push_back(*dropped);
  }
  if (!it->status().ok()) return store.ReadError("cannot read the catalog", it->status());
  return all;
}

Keyspace KeyspaceOf(const Store& store, const DroppedKeyspace& dropped) {
  switch (dropped.kind) {
    case KeyspaceKind::kItems:
      return Keyspace(store.items(), dropped.storage_id);
    case KeyspaceKind::kGlobalEntries:
      return Keyspace(store.global_entries(), dropped.storage_id);
    case KeyspaceKind::kLocalEntries:
      break;
  }
  return Keyspace(store.local_entries(), dropped.storage_id);
}

}  // namespace itemdb::storage
