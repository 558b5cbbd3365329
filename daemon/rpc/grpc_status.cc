#include "daemon/rpc/grpc_status.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "storage/base/service_text.h"
#include "storage/base/status.h"
#include "storage/values/utf8.h"

namespace itemdb::daemon {
namespace {

// Both enums have the same codes, but not one type. A code that only a later Abseil has becomes UNKNOWN.
grpc::StatusCode ToGrpcCode(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return grpc::StatusCode::OK;
    case absl::StatusCode::kCancelled:
      return grpc::StatusCode::CANCELLED;
    case absl::StatusCode::kUnknown:
      return grpc::StatusCode::UNKNOWN;
    case absl::StatusCode::kInvalidArgument:
      return grpc::StatusCode::INVALID_ARGUMENT;
    case absl::StatusCode::kDeadlineExceeded:
      return grpc::StatusCode::DEADLINE_EXCEEDED;
    case absl::StatusCode::kNotFound:
      return grpc::StatusCode::NOT_FOUND;
    case absl::StatusCode::kAlreadyExists:
      return grpc::StatusCode::ALREADY_EXISTS;
    case absl::StatusCode::kPermissionDenied:
      return grpc::StatusCode::PERMISSION_DENIED;
    case absl::StatusCode::kResourceExhausted:
      return grpc::StatusCode::RESOURCE_EXHAUSTED;
    case absl::StatusCode::kFailedPrecondition:
      return grpc::StatusCode::FAILED_PRECONDITION;
    case absl::StatusCode::kAborted:
      return grpc::StatusCode::ABORTED;
    case absl::StatusCode::kOutOfRange:
      return grpc::StatusCode::OUT_OF_RANGE;
    case absl::StatusCode::kUnimplemented:
      return grpc::StatusCode::UNIMPLEMENTED;
    case absl::StatusCode::kInternal:
      return grpc::StatusCode::INTERNAL;
    case absl::StatusCode::kUnavailable:
      return grpc::StatusCode::UNAVAILABLE;
    case absl::StatusCode::kDataLoss:
      return grpc::StatusCode::DATA_LOSS;
    case absl::StatusCode::kUnauthenticated:
      return grpc::StatusCode::UNAUTHENTICATED;
    default:
      return grpc::StatusCode::UNKNOWN;
  }
}

// Cuts UTF-8 `text` at a character boundary if it is longer than kMaxStatusMessageBytes.
std::string Shorten(std::string text) {
  if (text.size() <= kMaxStatusMessageBytes) return text;
  size_t end = kMaxStatusMessageBytes - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text + "...";
}

// protobuf refuses to decode details whose message is not UTF-8, and the client would lose the reason.
std::string AsUtf8(std::string text) {
  if (storage::IsValidUtf8(text)) return text;
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  return text;
}

google::rpc::ErrorInfo ErrorInfoOf(const absl::Status& status) {
  google::rpc::ErrorInfo info;
  info.set_reason(storage::ReasonOf(status));
  if (info.reason().empty()) info.set_reason(absl::StatusCodeToString(status.code()));
  info.set_domain("itemdb");
  const std::string rule = storage::RuleOf(status);
  if (!rule.empty()) (*info.mutable_metadata())["rule"] = rule;
  if (std::string text = storage::ServiceTextOf(status); text != storage::MessageOf(status))
    (*info.mutable_metadata())["service_text"] = Shorten(AsUtf8(std::move(text)));
  return info;
}

}  // namespace

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const grpc::StatusCode code = ToGrpcCode(status.code());
  google::rpc::Status sent;
  sent.set_code(code);
  sent.set_message(Shorten(AsUtf8(storage::MessageOf(status))));
  sent.add_details()->PackFrom(ErrorInfoOf(status));
  if (const int64_t retry_after_ms = storage::RetryAfterMsOf(status); retry_after_ms > 0) {
    google::rpc::RetryInfo retry;
    *retry.mutable_retry_delay() = google::protobuf::util::TimeUtil::MillisecondsToDuration(retry_after_ms);
    sent.add_details()->PackFrom(retry);
  }
  return grpc::Status(code, sent.message(), sent.SerializeAsString());
}

std::string ReasonOf(const grpc::Status& status) {
  if (status.ok()) return "";
  google::rpc::Status sent;
  google::rpc::ErrorInfo info;
  if (sent.ParseFromString(status.error_details()) && sent.details_size() > 0 &&
      sent.details(0).UnpackTo(&info))
    return info.reason();
  return absl::StatusCodeToString(static_cast<absl::StatusCode>(status.error_code()));
}

}  // namespace itemdb::daemon
