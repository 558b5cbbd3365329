#include "storage/catalog/catalog.h"

#include "storage/base/limits.h"

namespace itemdb {
namespace {

constexpr std::string_view kArn = "arn:";
constexpr std::string_view kTableResource = ":table/";

}  // namespace

absl::StatusOr<std::shared_ptr<const Table>> Catalog::Find(std::string_view name) const {
  auto found = tables_.find(name);
  if (found != tables_.end()) return found->second;
  // A name has no colon, so an ARN is never one.
  size_t resource = name.find(kTableResource);
  if (name.starts_with(kArn) && name.size() <= kMaxTableArnBytes && resource != std::string_view::npos)
    return Find(name.substr(resource + kTableResource.size()));
  ITEMDB_RETURN_IF_ERROR(CheckName("TableName", name));
  return NotFoundError("Requested resource not found: Table: " + std::string(name) + " not found");
}

}  // namespace itemdb
