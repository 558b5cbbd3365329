// Features of the service that itemdb does not have. Programs that manage tables, such as Terraform, ask
// about them for every table; the answer is the service's for a feature that is off. Requests that would turn
// a feature on are unknown operations (OP-64).
#pragma once

#include "daemon/http/api/call.h"

namespace itemdb::http::json {

void DescribeKinesisStreamingDestination(JsonCall call);
void ListGlobalTables(JsonCall call);
void GetResourcePolicy(JsonCall call);
void DeleteResourcePolicy(JsonCall call);

}  // namespace itemdb::http::json
