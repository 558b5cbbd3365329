#include "storage/exports/export_records.h"

#include <string>

#include "storage/exports/export_manifests.h"
#include "storage/schema/catalog_messages.h"

namespace itemdb::storage {
namespace {

std::string ExportKey(std::string_view export_id) { return std::string(kExportKeyPrefix).append(export_id); }

}  // namespace

absl::StatusOr<std::vector<v1::StoredExport>> FindExports(const ReadView& view) {
  return ReadCatalogMessages<v1::StoredExport>(view, kExportKeyPrefix);
}

absl::StatusOr<std::optional<v1::StoredExport>> FindExport(const ReadView& view, std::string_view export_id) {
  return FindCatalogMessage<v1::StoredExport>(view, ExportKey(export_id));
}

void PutExport(const v1::StoredExport& stored, CommitGroup& group) {
  PutCatalogMessage(ExportKey(ExportIdOf(stored.description())), stored, group);
}

void DeleteExport(const v1::StoredExport& stored, CommitGroup& group) {
  group.DeleteCatalog(ExportKey(ExportIdOf(stored.description())));
}

}  // namespace itemdb::storage
