#include "storage/standby/standby_position.h"

#include <string>

#include "storage/engine/load_catalog.h"
#include "storage/store/catalog_records.h"

namespace itemdb::storage {
namespace {

constexpr char kStandbyChainKey[] = "standby_chain";
constexpr char kStandbySequenceKey[] = "standby_sequence";
constexpr char kPromotedKey[] = "promoted";

}  // namespace

absl::StatusOr<std::optional<StandbyPosition>> ReadStandbyPosition(const Store& store) {
  StandbyPosition position;
  ITEMDB_ASSIGN_OR_RETURN(position.chain_id, ReadCatalogNumber(store, kStandbyChainKey, 0));
  if (position.chain_id == 0) return std::nullopt;
  ITEMDB_ASSIGN_OR_RETURN(position.sequence, ReadCatalogNumber(store, kStandbySequenceKey, 0));
  return position;
}

void PutStandbyPosition(const StandbyPosition& position, CommitGroup& group) {
  group.PutCatalog(kStandbyChainKey, EncodeCatalogNumber(kStandbyChainKey, position.chain_id));
  group.PutCatalog(kStandbySequenceKey, EncodeCatalogNumber(kStandbySequenceKey, position.sequence));
}

void EndStandby(CommitGroup& group) {
  group.DeleteCatalog(kStandbyChainKey);
  group.DeleteCatalog(kStandbySequenceKey);
  group.PutCatalog(kPromotedKey, EncodeCatalogNumber(kPromotedKey, 1));
}

absl::StatusOr<bool> WasPromoted(const Store& store) {
  ITEMDB_ASSIGN_OR_RETURN(const uint64_t promoted, ReadCatalogNumber(store, kPromotedKey, 0));
  return promoted != 0;
}

absl::Status WriteStandbyPosition(const StandbyPosition& position, Store& store) {
  rocksdb::WriteBatch batch;
  (void)batch.Put(store.catalog(), kStandbyChainKey,
                  EncodeCatalogNumber(kStandbyChainKey, position.chain_id));
  (void)batch.Put(store.catalog(), kStandbySequenceKey,
                  EncodeCatalogNumber(kStandbySequenceKey, position.sequence));
  rocksdb::WriteOptions options;
  options.sync = true;
  const rocksdb::Status written = store.Write(options, &batch);
  return written.ok() ? absl::OkStatus() : FromRocksDB("cannot write the standby's position", written);
}

}  // namespace itemdb::storage
