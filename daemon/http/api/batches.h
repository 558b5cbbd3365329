// BatchGetItem and BatchWriteItem.
#pragma once

#include "daemon/http/api/call.h"

namespace itemdb::json {

void BatchGetItem(JsonCall call);
void BatchWriteItem(JsonCall call);

}  // namespace itemdb::json
