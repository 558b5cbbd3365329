// Tables that are made of objects in a bucket.
#pragma once

#include "daemon/http/api/call.h"

namespace itemdb::http::json {

void ImportTable(JsonCall call);
void DescribeImport(JsonCall call);
void ListImports(JsonCall call);

}  // namespace itemdb::http::json
