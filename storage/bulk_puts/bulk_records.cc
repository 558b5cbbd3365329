#include "storage/bulk_puts/bulk_records.h"

#include <memory>

#include "absl/strings/str_format.h"
#include "storage/schema/catalog_messages.h"

namespace itemdb::storage {
namespace {

std::string BulkKey(const char* prefix, std::string_view id) { return std::string(prefix).append(id); }

std::string NumberedBulkKey(const char* prefix, std::string_view id, uint64_t number) {
  return BulkKey(prefix, id).append(absl::StrFormat("/%016x", number));
}

}  // namespace

std::string BulkOperationIdOf(const v1::BulkOperationDescription& description) {
  const std::string& arn = description.bulk_operation_arn();
  return arn.substr(arn.rfind('/') + 1);
}

std::string BulkStatusText(v1::BulkOperationStatus status) {
  return v1::BulkOperationStatus_Name(status).substr(sizeof("BULK_OPERATION_STATUS_") - 1);
}

bool IsUnfinished(const v1::BulkOperationDescription& description) {
  return description.bulk_operation_status() == v1::BULK_OPERATION_STATUS_IN_PROGRESS;
}

absl::StatusOr<std::optional<v1::StoredBulkOperation>> FindBulkOperation(const ReadView& view,
                                                                         std::string_view id) {
  return FindCatalogMessage<v1::StoredBulkOperation>(view, BulkKey(kBulkPutKeyPrefix, id));
}

absl::StatusOr<std::vector<v1::StoredBulkOperation>> FindBulkOperations(const ReadView& view) {
  return ReadCatalogMessages<v1::StoredBulkOperation>(view, kBulkPutKeyPrefix);
}

absl::StatusOr<std::optional<v1::StoredBulkProgress>> FindBulkProgress(const ReadView& view,
                                                                       std::string_view id) {
  return FindCatalogMessage<v1::StoredBulkProgress>(view, BulkKey(kBulkProgressKeyPrefix, id));
}

absl::StatusOr<bool> IsBulkCancelled(const ReadView& view, std::string_view id) {
  ITEMDB_ASSIGN_OR_RETURN(const auto cancellation, FindCatalogMessage<v1::StoredBulkCancellation>(
                                                       view, BulkKey(kBulkCancelKeyPrefix, id)));
  return cancellation.has_value();
}

absl::StatusOr<std::optional<v1::StoredBulkObjects>> FindBulkObjects(const ReadView& view,
                                                                     std::string_view id, uint64_t number) {
  return FindCatalogMessage<v1::StoredBulkObjects>(view, NumberedBulkKey(kBulkObjectsKeyPrefix, id, number));
}

absl::StatusOr<std::optional<v1::StoredBulkReport>> FindBulkReport(const ReadView& view, std::string_view id,
                                                                   uint64_t number) {
  return FindCatalogMessage<v1::StoredBulkReport>(view, NumberedBulkKey(kBulkReportKeyPrefix, id, number));
}

absl::StatusOr<std::vector<std::string>> FindBulkWork(const ReadView& view, std::string_view id,
                                                      size_t max_keys) {
  rocksdb::ReadOptions options;
  options.snapshot = view.snapshot();
  std::vector<std::string> keys;
  const std::unique_ptr<rocksdb::Iterator> it = view.store()->NewIterator(options, view.store()->catalog());
  for (const char* kind : {kBulkObjectsKeyPrefix, kBulkReportKeyPrefix}) {
    const std::string prefix = BulkKey(kind, id) + "/";
    for (it->Seek(prefix); keys.size() < max_keys && it->Valid() && it->key().starts_with(prefix); it->Next())
      keys.push_back(it->key().ToString());
    if (!it->status().ok()) return view.store()->ReadError("cannot read the catalog", it->status());
  }
  return keys;
}

void PutBulkOperation(const v1::StoredBulkOperation& stored, CommitGroup& group) {
  PutCatalogMessage(BulkKey(kBulkPutKeyPrefix, BulkOperationIdOf(stored.description())), stored, group);
}

void PutBulkProgress(std::string_view id, const v1::StoredBulkProgress& progress, CommitGroup& group) {
  PutCatalogMessage(BulkKey(kBulkProgressKeyPrefix, id), progress, group);
}

void PutBulkCancellation(std::string_view id, CommitGroup& group) {
  PutCatalogMessage(BulkKey(kBulkCancelKeyPrefix, id), v1::StoredBulkCancellation(), group);
}

void PutBulkObjects(std::string_view id, uint64_t number, const v1::StoredBulkObjects& objects,
                    CommitGroup& group) {
  PutCatalogMessage(NumberedBulkKey(kBulkObjectsKeyPrefix, id, number), objects, group);
}

void PutBulkReport(std::string_view id, uint64_t number, const v1::StoredBulkReport& report,
                   CommitGroup& group) {
  PutCatalogMessage(NumberedBulkKey(kBulkReportKeyPrefix, id, number), report, group);
}

void DeleteBulkOperation(std::string_view id, CommitGroup& group) {
  group.DeleteCatalog(BulkKey(kBulkPutKeyPrefix, id));
}

void DeleteBulkProgress(std::string_view id, CommitGroup& group) {
  group.DeleteCatalog(BulkKey(kBulkProgressKeyPrefix, id));
  group.DeleteCatalog(BulkKey(kBulkCancelKeyPrefix, id));
}

}  // namespace itemdb::storage
