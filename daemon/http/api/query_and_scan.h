// Query and Scan.
#pragma once

#include "daemon/http/api/call.h"

namespace itemdb::http::json {

void Query(JsonCall call);
void Scan(JsonCall call);

}  // namespace itemdb::http::json
