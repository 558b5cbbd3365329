// TransactWriteItems and TransactGetItems.
#pragma once

#include "daemon/http/api/call.h"

namespace itemdb::http::json {

void TransactWriteItems(JsonCall call);
void TransactGetItems(JsonCall call);

}  // namespace itemdb::http::json
