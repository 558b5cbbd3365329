// What the service's reader of SearchVectors says of a request that lacks a member (VEC-18). It is another
// reader than that of the other operations, and names places in the body.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace itemdb::http {

// `refused` is why CheckRequest() refuses `body`, a JSON object. Returns what is answered: a required member
// that is null, the first one of the body; TableName that is missing; or `refused`.
absl::Status SearchBodyError(std::string_view body, absl::Status refused);

}  // namespace itemdb::http
