// PutItem, GetItem, UpdateItem, DeleteItem.
#pragma once

#include "daemon/http/api/call.h"

namespace itemdb::http::json {

void PutItem(JsonCall call);
void GetItem(JsonCall call);
void UpdateItem(JsonCall call);
void DeleteItem(JsonCall call);

}  // namespace itemdb::http::json
