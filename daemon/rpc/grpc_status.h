// Converts statuses to gRPC statuses; no other file does.
#pragma once

#include <grpcpp/support/status.h>

#include <string>

#include "absl/status/status.h"

namespace itemdb::daemon {

// The longest message sent, in bytes. The message travels in HTTP/2 headers, of which peers accept 8 KiB. It
// is in them twice: once percent-encoded, which triples bytes that are not ASCII, and once with the details,
// where the service text may stand beside it, which is cut in the same way.
// Without a bound a message could be much longer: it can quote an attribute name of 64 KiB.
inline constexpr size_t kMaxStatusMessageBytes = 1'024;

// The same code and message. The binary details hold a google.rpc.Status: an ErrorInfo with the reason, the
// broken rule (metadata "rule") and the service text if it is not the message (metadata "service_text",
// storage/base/service_text.h), and a RetryInfo if the error says when to try again. A status without a
// reason gets the name of its code as reason. A message above kMaxStatusMessageBytes is cut between
// characters and ends in
// "...".
grpc::Status ToGrpcStatus(const absl::Status& status);

// The reason in the details of a status that ToGrpcStatus() made; the name of the code of another status.
// Empty: OK.
std::string ReasonOf(const grpc::Status& status);

}  // namespace itemdb::daemon
