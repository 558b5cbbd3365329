// PartiQL: ExecuteStatement, BatchExecuteStatement, ExecuteTransaction.
#pragma once

#include "daemon/http/api/call.h"

namespace itemdb::http::json {

void ExecuteStatement(JsonCall call);
void BatchExecuteStatement(JsonCall call);
void ExecuteTransaction(JsonCall call);

}  // namespace itemdb::http::json
