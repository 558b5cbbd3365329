// The catalog's records of bulk puts:
//
//   bulk_put/ID                 the operation, written when it begins and when it ends
//   bulk_put_progress/ID        how far it is
//   bulk_put_cancel/ID          it was cancelled
//   bulk_put_objects/ID/NUMBER  the objects, as they were listed
//   bulk_put_report/ID/NUMBER   the lines of its report
//
// All but the first are deleted after the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "itemdb/v1/bulk_puts.pb.h"
#include "storage/commit/commit_group.h"
#include "storage/store/read_view.h"

namespace itemdb::storage {

// The id at the end of the operation's ARN.
std::string BulkOperationIdOf(const v1::BulkOperationDescription& description);
// "COMPLETED_WITH_ERRORS", for example.
std::string BulkStatusText(v1::BulkOperationStatus status);
// Whether the operation has neither ended nor failed.
bool IsUnfinished(const v1::BulkOperationDescription& description);

// All functions that read have these errors: DATA_LOSS: a record does not decode; or the error of the store.
// nullopt: there is no such record.
absl::StatusOr<std::optional<v1::StoredBulkOperation>> FindBulkOperation(const ReadView& view,
                                                                         std::string_view id);
// The oldest first.
absl::StatusOr<std::vector<v1::StoredBulkOperation>> FindBulkOperations(const ReadView& view);
absl::StatusOr<std::optional<v1::StoredBulkProgress>> FindBulkProgress(const ReadView& view,
                                                                       std::string_view id);
absl::StatusOr<bool> IsBulkCancelled(const ReadView& view, std::string_view id);
absl::StatusOr<std::optional<v1::StoredBulkObjects>> FindBulkObjects(const ReadView& view,
                                                                     std::string_view id, uint64_t number);
absl::StatusOr<std::optional<v1::StoredBulkReport>> FindBulkReport(const ReadView& view, std::string_view id,
                                                                   uint64_t number);
// The keys of at most `max_keys` records of objects and reports.
absl::StatusOr<std::vector<std::string>> FindBulkWork(const ReadView& view, std::string_view id,
                                                      size_t max_keys);

void PutBulkOperation(const v1::StoredBulkOperation& stored, CommitGroup& group);
void PutBulkProgress(std::string_view id, const v1::StoredBulkProgress& progress, CommitGroup& group);
void PutBulkCancellation(std::string_view id, CommitGroup& group);
void PutBulkObjects(std::string_view id, uint64_t number, const v1::StoredBulkObjects& objects,
                    CommitGroup& group);
void PutBulkReport(std::string_view id, uint64_t number, const v1::StoredBulkReport& report,
                   CommitGroup& group);
void DeleteBulkOperation(std::string_view id, CommitGroup& group);
// Deletes the progress and the cancellation.
void DeleteBulkProgress(std::string_view id, CommitGroup& group);

}  // namespace itemdb::storage
