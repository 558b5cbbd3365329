// The operations that are offered.
#pragma once

#include <span>

#include "daemon/http/json_api.h"
#include "daemon/http/json_call.h"
#include "daemon/http/json_shapes.h"

namespace itemdb {

struct JsonOperation {
  // As behind the target's prefix: "PutItem".
  std::string_view name;
  Role role;
  // What its requests are checked against.
  const Shape* input;
  void (*answer)(JsonCall call);
};

// All of them.
std::span<const JsonOperation> Operations();

}  // namespace itemdb
