// Checks StartBulkPutItems requests.
#pragma once

#include "itemdb/v1/bulk_puts.pb.h"
#include "storage/base/status.h"

namespace itemdb::storage {

// `request` with all defaults but the client token, and the name of its table instead of an ARN: two requests
// are the same if these are equal (BLK-04). INVALID_ARGUMENT (BLK-01). The table is not looked up.
absl::StatusOr<v1::StartBulkPutItemsRequest> CheckedBulkRequest(v1::StartBulkPutItemsRequest request);

// The description of a new operation without its ARN, times and table.
v1::BulkOperationDescription DescriptionOf(const v1::StartBulkPutItemsRequest& checked);

}  // namespace itemdb::storage
