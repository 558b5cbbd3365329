// The one place where statuses become gRPC statuses.
#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace itemdb {

// Longest message sent, in bytes: it travels in HTTP/2 headers, of which peers accept 8 KiB, and
// percent-encoding triples what is not ASCII. A message can quote an attribute name of 64 KiB.
inline constexpr size_t kMaxStatusMessageBytes = 1'024;

// The same code and message, with reason, waiting time and broken rule as an itemdb.v1.ErrorDetail in the
// binary details. A status without a reason gets the name of its code as reason. Messages above
// kMaxStatusMessageBytes are cut between characters and end in "...".
grpc::Status ToGrpcStatus(const absl::Status& status);

}  // namespace itemdb
