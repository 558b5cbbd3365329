// Exports of tables.
#pragma once

#include "daemon/http/api/call.h"

namespace itemdb::http::json {

void ExportTableToPointInTime(JsonCall call);
void DescribeExport(JsonCall call);
void ListExports(JsonCall call);

}  // namespace itemdb::http::json
