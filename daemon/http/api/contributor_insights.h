// Contributor insights: whether the most used keys of a table or of a global index are counted.
#pragma once

#include "daemon/http/api/call.h"

namespace itemdb::http::json {

void UpdateContributorInsights(JsonCall call);
void DescribeContributorInsights(JsonCall call);
void ListContributorInsights(JsonCall call);

}  // namespace itemdb::http::json
