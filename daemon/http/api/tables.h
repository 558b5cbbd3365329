// Operations on tables, their tags and times to live; DescribeLimits and DescribeEndpoints.
#pragma once

#include "daemon/http/api/call.h"

namespace itemdb::http::json {

void CreateTable(JsonCall call);
void DeleteTable(JsonCall call);
void DescribeTable(JsonCall call);
void ListTables(JsonCall call);
void UpdateTable(JsonCall call);
void TagResource(JsonCall call);
void UntagResource(JsonCall call);
void ListTagsOfResource(JsonCall call);
void UpdateTimeToLive(JsonCall call);
void DescribeTimeToLive(JsonCall call);
void DescribeLimits(JsonCall call);
void DescribeEndpoints(JsonCall call);

}  // namespace itemdb::http::json
