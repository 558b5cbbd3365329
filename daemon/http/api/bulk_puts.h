// Puts of the items of objects in a bucket into a table.
#pragma once

#include "daemon/http/api/call.h"

namespace itemdb::http::json {

void StartBulkPutItems(JsonCall call);
void DescribeBulkOperation(JsonCall call);
void ListBulkOperations(JsonCall call);
void CancelBulkOperation(JsonCall call);

}  // namespace itemdb::http::json
