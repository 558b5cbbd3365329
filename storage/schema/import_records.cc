#include "storage/schema/import_records.h"

#include <string>
#include <utility>

#include "storage/schema/catalog_messages.h"

namespace itemdb::storage {
namespace {

std::string ImportKey(std::string_view id) { return std::string(kImportKeyPrefix).append(id); }

}  // namespace

std::string ImportIdOf(const v1::ImportDescription& import) {
  const std::string& arn = import.import_arn();
  return arn.substr(arn.rfind('/') + 1);
}

absl::StatusOr<std::optional<v1::ImportDescription>> FindImport(const ReadView& view, std::string_view id) {
  ITEMDB_ASSIGN_OR_RETURN(std::optional<v1::StoredImport> stored,
                          FindCatalogMessage<v1::StoredImport>(view, ImportKey(id)));
  if (!stored.has_value()) return std::nullopt;
  return std::move(*stored->mutable_import());
}

absl::StatusOr<std::vector<v1::ImportDescription>> FindImports(const ReadView& view) {
  ITEMDB_ASSIGN_OR_RETURN(std::vector<v1::StoredImport> stored,
                          ReadCatalogMessages<v1::StoredImport>(view, kImportKeyPrefix));
  std::vector<v1::ImportDescription> imports;
  for (v1::StoredImport& one : stored) imports.push_back(std::move(*one.mutable_import()));
  return imports;
}

void PutImport(const v1::ImportDescription& import, CommitGroup& group) {
  v1::StoredImport stored;
  *stored.mutable_import() = import;
  PutCatalogMessage(ImportKey(ImportIdOf(import)), stored, group);
}

void DeleteImport(std::string_view id, CommitGroup& group) { group.DeleteCatalog(ImportKey(id)); }

}  // namespace itemdb::storage
