// Checks requests for exports, in the order of XPT-01.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "itemdb/v1/exports.pb.h"
#include "storage/base/status.h"
#include "storage/schema/continuous_backups.h"

namespace itemdb::storage {

// What can be checked without the table and does not depend on other parts of the request. INVALID_ARGUMENT.
absl::Status CheckExportShape(const v1::ExportTableToPointInTimeRequest& request);
// Parts of the request that do not fit each other (XPT-03). INVALID_ARGUMENT.
absl::Status CheckExportCouplings(const v1::ExportTableToPointInTimeRequest& request);
// The time of a full export must be one of `times` (XPT-05). OUT_OF_RANGE (INVALID_EXPORT_TIME).
absl::Status CheckExportTime(int64_t time_ms, const std::vector<RecoveryTimes>& times);

// The times of an incremental export of a table that was created at `creation_time_ms` (XPT-04). OUT_OF_RANGE
// (INVALID_EXPORT_TIME).
absl::Status CheckExportWindow(const v1::IncrementalExportSpecification& changes, int64_t creation_time_ms,
                               int64_t now_ms);

// The request as a description shows it: with the defaults of what is always shown (XPT-08).
v1::ExportTableToPointInTimeRequest ShownRequest(v1::ExportTableToPointInTimeRequest request);
// The request with all defaults filled in: two requests are the same if these are equal (XPT-11).
v1::ExportTableToPointInTimeRequest ComparedRequest(const v1::ExportTableToPointInTimeRequest& request);

}  // namespace itemdb::storage
