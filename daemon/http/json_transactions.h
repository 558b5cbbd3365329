// TransactWriteItems and TransactGetItems.
#pragma once

#include "daemon/http/json_call.h"

namespace itemdb::json {

void TransactWriteItems(JsonCall call);
void TransactGetItems(JsonCall call);

}  // namespace itemdb::json
