#include "daemon/http/json_outcomes.h"

#include "daemon/http/json_error.h"
#include "daemon/http/json_writer.h"

namespace itemdb {
namespace {

std::string_view CodeText(v1::CancellationCode code) {
  switch (code) {
    case v1::CANCELLATION_CODE_CONDITIONAL_CHECK_FAILED:
      return "ConditionalCheckFailed";
    case v1::CANCELLATION_CODE_VALIDATION_ERROR:
      return "ValidationError";
    case v1::CANCELLATION_CODE_ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED:
      return "ItemCollectionSizeLimitExceeded";
    case v1::CANCELLATION_CODE_DUPLICATE_ITEM:
      return "DuplicateItem";
    case v1::CANCELLATION_CODE_NONE:
    default:
      return "None";
  }
}

}  // namespace

JsonReply ConditionFailedReply(const wire::ConditionFailed& failed) {
  JsonReply reply{.http_status = 400, .code = "FAILED_PRECONDITION"};
  reply.body = BeginErrorBody("ConditionalCheckFailedException", "The conditional request failed");
  JsonWriter writer(&reply.body);
  if (failed.has_item()) writer.Name("Item").Item(failed.item());
  writer.EndObject();
  return reply;
}

JsonReply CancelledReply(const wire::TransactionCancelled& cancelled) {
  std::string message = "Transaction cancelled, please refer cancellation reasons for specific reasons [";
  for (int i = 0; i < cancelled.reasons_size(); ++i)
    message.append(i > 0 ? ", " : "").append(CodeText(cancelled.reasons(i).code()));
  JsonReply reply{.http_status = 400, .code = "FAILED_PRECONDITION"};
  reply.body = BeginErrorBody("TransactionCanceledException", message + "]");
  JsonWriter writer(&reply.body);
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

}  // namespace itemdb
