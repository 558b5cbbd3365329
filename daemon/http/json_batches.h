// BatchGetItem and BatchWriteItem.
#pragma once

#include "daemon/http/json_call.h"

namespace itemdb::json {

void BatchGetItem(JsonCall call);
void BatchWriteItem(JsonCall call);

}  // namespace itemdb::json
