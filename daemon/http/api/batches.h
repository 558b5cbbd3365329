// BatchGetItem and BatchWriteItem.
#pragma once

#include "daemon/http/api/call.h"

namespace itemdb::http::json {

void BatchGetItem(JsonCall call);
void BatchWriteItem(JsonCall call);

}  // namespace itemdb::http::json
