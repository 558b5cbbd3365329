#include "storage/catalog/catalog.h"

namespace itemdb {

absl::StatusOr<std::shared_ptr<const Table>> Catalog::Find(std::string_view name) const {
  auto found = tables_.find(name);
  if (found != tables_.end()) return found->second;
  ITEMDB_RETURN_IF_ERROR(CheckName("TableName", name));
  return NotFoundError("Requested resource not found: Table: " + std::string(name) + " not found");
}

}  // namespace itemdb
