#include "daemon/http/api/outcomes.h"

#include "daemon/http/api/errors.h"
#include "daemon/http/api/request_members.h"
#include "storage/json/json_writer.h"

namespace itemdb::http {
namespace {

// The service's text for `code`. All codes but NONE and VALIDATION_ERROR have the name of a reason, so
// ExceptionOf() knows their text.
std::string_view CodeText(v1::CancellationCode code) {
  if (code == v1::CANCELLATION_CODE_NONE) return "None";
  return ExceptionOf(code == v1::CANCELLATION_CODE_VALIDATION_ERROR ? storage::kReasonValidation
                                                                    : EnumText(code))
      .short_code;
}

JsonReply Begin(std::string_view reason, std::string_view message) {
  const JsonException& exception = ExceptionOf(reason);
  return {.http_status = exception.http_status,
          .body = BeginErrorBody(exception.name, message),
          .code = "FAILED_PRECONDITION",
          .reason = reason};
}

}  // namespace

JsonReply ConditionFailedReply(const wire::ConditionFailed& failed) {
  JsonReply reply = Begin(storage::kReasonConditionalCheckFailed, "The conditional request failed");
  storage::JsonWriter writer(&reply.body);
  if (failed.has_item()) writer.Name("Item").Item(failed.item());
  writer.EndObject();
  return reply;
}

JsonReply CancelledReply(const wire::TransactionCancelled& cancelled) {
  std::string message = "Transaction cancelled, please refer cancellation reasons for specific reasons [";
  for (int i = 0; i < cancelled.reasons_size(); ++i)
    message.append(i > 0 ? ", " : "").append(CodeText(cancelled.reasons(i).code()));
  JsonReply reply = Begin(daemon::kReasonTransactionCancelled, message + "]");
  storage::JsonWriter writer(&reply.body);
  writer.Name("CancellationReasons").BeginArray();
  for (const auto& reason : cancelled.reasons()) {
    writer.BeginObject().Name("Code").String(CodeText(reason.code()));
    if (!reason.message().empty()) writer.Name("Message").String(reason.message());
    if (reason.has_item()) writer.Name("Item").Item(reason.item());
    writer.EndObject();
  }
  writer.EndArray().EndObject();
  return reply;
}

}  // namespace itemdb::http
