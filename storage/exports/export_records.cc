#include "storage/exports/export_records.h"

#include <memory>
#include <string>
#include <utility>

#include "storage/exports/export_manifests.h"
#include "storage/store/catalog_records.h"

namespace itemdb::storage {
namespace {

std::string ExportKey(std::string_view export_id) { return std::string(kExportKeyPrefix).append(export_id); }

}  // namespace

absl::StatusOr<std::vector<v1::StoredExport>> FindExports(const ReadView& view) {
  rocksdb::ReadOptions options;
  options.snapshot = view.snapshot();
  std::vector<v1::StoredExport> exports;
  const std::string_view prefix = kExportKeyPrefix;
  std::unique_ptr<rocksdb::Iterator> it = view.store()->NewIterator(options, view.store()->catalog());
  for (it->Seek(ToSlice(prefix)); it->Valid() && it->key().starts_with(ToSlice(prefix)); it->Next()) {
    std::optional<v1::StoredExport> stored =
        DecodeCatalogMessage<v1::StoredExport>(ToView(it->key()), ToView(it->value()));
    if (!stored.has_value())
      return DataLossError("the catalog record " + it->key().ToString() + " is damaged");
    exports.push_back(*std::move(stored));
  }
  if (!it->status().ok()) return view.store()->ReadError("cannot read the catalog", it->status());
  return exports;
}

absl::StatusOr<std::optional<v1::StoredExport>> FindExport(const ReadView& view, std::string_view export_id) {
  rocksdb::ReadOptions options;
  options.snapshot = view.snapshot();
  const std::string key = ExportKey(export_id);
  std::string record;
  const rocksdb::Status status = view.store()->db()->Get(options, view.store()->catalog(), key, &record);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return view.store()->ReadError("cannot read the catalog", status);
  std::optional<v1::StoredExport> stored = DecodeCatalogMessage<v1::StoredExport>(key, record);
  if (!stored.has_value()) return DataLossError("the catalog record " + key + " is damaged");
  return stored;
}

void PutExport(const v1::StoredExport& stored, CommitGroup& group) {
  const std::string key = ExportKey(ExportIdOf(stored.description()));
  group.PutCatalog(key, EncodeRecord(kCatalogStorageId, key, 0, stored.SerializeAsString()));
}

void DeleteExport(const v1::StoredExport& stored, CommitGroup& group) {
  group.DeleteCatalog(ExportKey(ExportIdOf(stored.description())));
}

}  // namespace itemdb::storage
