// One row of the table of operations (operations.cc).
#pragma once

#include <string_view>

#include "daemon/http/api/call.h"
#include "daemon/http/api/json_api.h"
#include "daemon/http/api/request_shapes.h"

namespace itemdb::http {

struct JsonOperation {
  // The part of X-Amz-Target after its prefix: "PutItem".
  std::string_view name;
  daemon::Role role;
  daemon::Scope scope;
  // The shape that requests are checked against.
  const Shape* input;
  void (*answer)(JsonCall call);
  // Says otherwise why a request is refused that does not have the shape; null: nothing else is said.
  absl::Status (*error_of_body)(std::string_view body, absl::Status refused) = nullptr;
};

}  // namespace itemdb::http
