// The operations of DynamoDB Streams (target prefix DynamoDBStreams_20120810).
#pragma once

#include "daemon/http/api/call.h"

namespace itemdb::http::json {

void ListStreams(JsonCall call);
void DescribeStream(JsonCall call);
void GetShardIterator(JsonCall call);
void GetRecords(JsonCall call);

}  // namespace itemdb::http::json
