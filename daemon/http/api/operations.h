// The operations that are offered.
#pragma once

#include <string_view>

#include "daemon/http/api/call.h"
#include "daemon/http/api/json_api.h"
#include "daemon/http/api/request_shapes.h"

namespace itemdb {

struct JsonOperation {
  // As behind the target's prefix: "PutItem".
  std::string_view name;
  Role role;
  // What its requests are checked against.
  const Shape* input;
  void (*answer)(JsonCall call);
};

}  // namespace itemdb
