// SearchVectors.
#pragma once

#include "daemon/http/api/call.h"

namespace itemdb::http::json {

void SearchVectors(JsonCall call);

}  // namespace itemdb::http::json
