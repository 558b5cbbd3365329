// Converts statuses to gRPC statuses; no other file does.
#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace itemdb::daemon {

// The longest message sent, in bytes. The message travels in HTTP/2 headers, of which peers accept 8 KiB, and
// percent-encoding triples bytes that are not ASCII. Without a bound a message could be much longer: it can
// quote an attribute name of 64 KiB.
inline constexpr size_t kMaxStatusMessageBytes = 1'024;

// The same code and message. The binary details hold an itemdb.v1.ErrorDetail with the reason, the time to
// wait before a retry and the broken rule. A status without a reason gets the name of its code as reason. A
// message above kMaxStatusMessageBytes is cut between characters and ends in "...".
grpc::Status ToGrpcStatus(const absl::Status& status);

}  // namespace itemdb::daemon
