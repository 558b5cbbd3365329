#include "storage/schema/restoring_tables.h"

#include <memory>
#include <utility>

#include "storage/catalog/catalog.h"
#include "storage/schema/catalog_messages.h"

namespace itemdb::storage {
namespace {

std::string RestoringKey(std::string_view table_name) {
  return std::string(kRestoringKeyPrefix).append(table_name);
}

}  // namespace

absl::StatusOr<std::optional<v1::RestoringTable>> FindRestoringTable(const ReadView& view,
                                                                     std::string_view table_name) {
  return FindCatalogMessage<v1::RestoringTable>(view, RestoringKey(table_name));
}

absl::StatusOr<std::vector<v1::RestoringTable>> FindRestoringTables(const ReadView& view) {
  return ReadCatalogMessages<v1::RestoringTable>(view, kRestoringKeyPrefix);
}

void PutRestoringTable(const v1::RestoringTable& table, CommitGroup& group) {
  PutCatalogMessage(RestoringKey(table.definition().table_name()), table, group);
}

void DeleteRestoringTable(std::string_view table_name, CommitGroup& group) {
  group.DeleteCatalog(RestoringKey(table_name));
}

absl::Status CheckNotImporting(const ReadView& view, std::string_view table) {
  ITEMDB_ASSIGN_OR_RETURN(const auto restoring, FindRestoringTable(view, TableNameOf(table)));
  if (!restoring.has_value() || restoring->import_id().empty()) return absl::OkStatus();
  return WithRule("IMP-05", MakeError(absl::StatusCode::kAlreadyExists, kReasonResourceInUse,
                                      "Attempt to change a resource which is still in use: Table is being "
                                      "imported: " +
                                          restoring->definition().table_name()));
}

absl::StatusOr<std::vector<v1::DeletedTable>> FindDeletedTables(const ReadView& view) {
  return ReadCatalogMessages<v1::DeletedTable>(view, kDeletedTableKeyPrefix);
}

void PutDeletedTable(const v1::DeletedTable& table, CommitGroup& group) {
  PutCatalogMessage(DeletedTableKey(table.definition().storage_id()), table, group);
}

void DeleteDeletedTable(uint64_t storage_id, CommitGroup& group) {
  group.DeleteCatalog(DeletedTableKey(storage_id));
}

}  // namespace itemdb::storage
