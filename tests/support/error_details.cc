#include "tests/support/error_details.h"

#include <google/protobuf/util/time_util.h>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace itemdb {

using google::protobuf::util::TimeUtil;

ErrorDetails DetailsOf(const grpc::Status& status) {
  ErrorDetails details;
  google::rpc::Status sent;
  if (!sent.ParseFromString(status.error_details()) || sent.code() != status.error_code() ||
      sent.message() != status.error_message()) {
    return details;
  }
  google::rpc::ErrorInfo info;
  google::rpc::RetryInfo retry;
  for (const google::protobuf::Any& detail : sent.details()) {
    if (detail.UnpackTo(&info)) {
      details.reason = info.reason();
      details.domain = info.domain();
      const auto rule = info.metadata().find("rule");
      if (rule != info.metadata().end()) details.rule = rule->second;
      const auto text = info.metadata().find("service_text");
      if (text != info.metadata().end()) details.service_text = text->second;
    } else if (detail.UnpackTo(&retry)) {
      details.retry_after_ms = TimeUtil::DurationToMilliseconds(retry.retry_delay());
    }
  }
  return details;
}

std::string EncodeErrorDetails(grpc::StatusCode code, const std::string& message,
                               const ErrorDetails& details) {
  google::rpc::Status sent;
  sent.set_code(code);
  sent.set_message(message);
  google::rpc::ErrorInfo info;
  info.set_reason(details.reason);
  info.set_domain(details.domain);
  if (!details.rule.empty()) (*info.mutable_metadata())["rule"] = details.rule;
  sent.add_details()->PackFrom(info);
  if (details.retry_after_ms > 0) {
    google::rpc::RetryInfo retry;
    *retry.mutable_retry_delay() = TimeUtil::MillisecondsToDuration(details.retry_after_ms);
    sent.add_details()->PackFrom(retry);
  }
  return sent.SerializeAsString();
}

}  // namespace itemdb
