#include "storage/store/read_view.h"

#include "absl/strings/escaping.h"
#include "storage/store/keyspace.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {

ReadView::ReadView(std::shared_ptr<Store> store, std::shared_ptr<const Catalog> catalog,
                   uint64_t change_sequence, uint64_t group_number)
    : store_(std::move(store)),
      catalog_(std::move(catalog)),
      snapshot_(store_->db()->GetSnapshot()),
      change_sequence_(change_sequence),
      group_number_(group_number) {}

ReadView::~ReadView() { store_->db()->ReleaseSnapshot(snapshot_); }

absl::StatusOr<Lookup> LookupItem(const ReadView& view, const Table& table, std::string_view key,
                                  ReadTier tier) {
  rocksdb::ReadOptions options;
  options.snapshot = view.snapshot();
  options.read_tier = tier == ReadTier::kCacheOnly ? rocksdb::kBlockCacheTier : rocksdb::kReadAllTier;
  rocksdb::PinnableSlice record;
  rocksdb::Status status = GetRecord(*view.store(), ItemsOf(*view.store(), table), options, key, &record);
  Lookup lookup;
  if (status.IsNotFound()) return lookup;
  if (status.IsIncomplete()) {
    lookup.would_block = true;
    return lookup;
  }
  if (!status.ok()) return view.store()->ReadError("cannot read an item of table " + table.name, status);
  // The cache tier may not open files. For a file that is not open, RocksDB answers "may exist": OK without a
  // value. A stored record is never empty.
  if (tier == ReadTier::kCacheOnly && record.empty()) {
    lookup.would_block = true;
    return lookup;
  }
  std::optional<StoredRecord> decoded = DecodeRecord(table.storage_id, key, ToView(record));
  if (!decoded.has_value()) return DamagedRecordError("table " + table.name, key);
  lookup.item.emplace(decoded->payload);
  lookup.item_size = decoded->item_size;
  return lookup;
}

absl::Status DamagedRecordError(std::string_view owner, std::string_view key) {
  return DataLossError("the stored record of " + std::string(owner) + " under the encoded key " +
                       absl::BytesToHexString(absl::string_view(key.data(), key.size())) +
                       " is damaged (its checksum does not match)");
}

}  // namespace itemdb::storage
