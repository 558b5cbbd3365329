// The details of an error, as the daemon sends them: a google.rpc.Status with ErrorInfo and RetryInfo.
#pragma once

#include <grpcpp/support/status.h>

#include <cstdint>
#include <optional>
#include <string>

namespace itemdb {

struct ErrorDetails {
  // ErrorInfo. Without one all are empty.
  std::string reason;
  std::string domain;
  std::string rule;
  // RetryInfo; 0 without one.
  int64_t retry_after_ms = 0;
  // ErrorInfo again: DynamoDB's sentence, if the message is another.
  std::optional<std::string> service_text = std::nullopt;
};

// All fields are empty if the binary details are no google.rpc.Status, or one whose code or message differs
// from those of `status`.
ErrorDetails DetailsOf(const grpc::Status& status);

// The binary details of a status as the daemon sends it.
std::string EncodeErrorDetails(grpc::StatusCode code, const std::string& message,
                               const ErrorDetails& details);

}  // namespace itemdb
