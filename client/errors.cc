#include "itemdb/errors.h"

#include <algorithm>
#include <iterator>

#include "absl/status/status_payload_printer.h"
#include "client/convert.h"
#include "client/errors_internal.h"
#include "google/rpc/error_details.pb.h"
#include "itemdb/v1/data.pb.h"

namespace itemdb {
namespace {

// One letter for each BatchWriteOutcome, in the order of the enum.
constexpr char kOutcomeLetters[] = "ANU";
// The broken rule, in the metadata of ErrorInfo.
constexpr char kRule[] = "rule";

// The payload at `url` as a message; nothing when there is none or it does not parse.
template <typename Message>
std::optional<Message> Payload(const absl::Status& status, const char* url) {
  const absl::optional<absl::Cord> payload = status.GetPayload(url);
  Message message;
  if (!payload.has_value() || !message.ParseFromString(std::string(*payload))) return std::nullopt;
  return message;
}

// Leaves out an item that does not convert: the status matters more than the item.
std::optional<Item> ItemOrNothing(const v1::Item& message) {
  absl::StatusOr<Item> item = FromProto(message);
  if (!item.ok()) return std::nullopt;
  return *std::move(item);
}

CancellationReason::Code CodeFromProto(v1::CancellationCode code) {
  switch (code) {
    case v1::CANCELLATION_CODE_NONE:
      return CancellationReason::Code::kNone;
    case v1::CANCELLATION_CODE_CONDITIONAL_CHECK_FAILED:
      return CancellationReason::Code::kConditionalCheckFailed;
    case v1::CANCELLATION_CODE_VALIDATION_ERROR:
      return CancellationReason::Code::kValidationError;
    case v1::CANCELLATION_CODE_ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED:
      return CancellationReason::Code::kItemCollectionSizeLimitExceeded;
    default:
      return CancellationReason::Code::kUnknown;
  }
}

// How absl prints a payload of this library; nothing for other payloads, which it prints itself.
absl::optional<std::string> PayloadText(absl::string_view url, const absl::Cord& payload) {
  const std::string bytes(payload);
  if (url == kErrorInfoUrl) {
    google::rpc::ErrorInfo info;
    if (!info.ParseFromString(bytes)) return absl::nullopt;
    std::string text = "reason " + info.reason();
    const auto rule = info.metadata().find(kRule);
    if (rule != info.metadata().end()) text += ", rule " + rule->second;
    return text;
  }
  if (url == kRetryInfoUrl) {
    google::rpc::RetryInfo retry;
    if (!retry.ParseFromString(bytes)) return absl::nullopt;
    return absl::FormatDuration(absl::Seconds(retry.retry_delay().seconds()) +
                                absl::Nanoseconds(retry.retry_delay().nanos()));
  }
  // An item may be long, and secret.
  if (url == kConditionFailedUrl) return "see ConditionFailedItem()";
  if (url == kTransactionCancelledUrl) return "see CancellationReasons()";
  return absl::nullopt;
}

}  // namespace

void PrintPayloadsAsText() {
  static const bool done = [] {
    if (absl::status_internal::GetStatusPayloadPrinter() == nullptr)
      absl::status_internal::SetStatusPayloadPrinter(&PayloadText);
    return true;
  }();
  static_cast<void>(done);
}

void AttachErrorFields(const ErrorFields& fields, absl::Status& status) {
  google::rpc::ErrorInfo info;
  info.set_reason(fields.reason);
  info.set_domain(kErrorDomain);
  if (!fields.rule.empty()) (*info.mutable_metadata())[kRule] = fields.rule;
  status.SetPayload(kErrorInfoUrl, absl::Cord(info.SerializeAsString()));
  if (fields.retry_after_ms <= 0) return;
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_seconds(fields.retry_after_ms / 1'000);
  retry.mutable_retry_delay()->set_nanos(static_cast<int32_t>(fields.retry_after_ms % 1'000 * 1'000'000));
  status.SetPayload(kRetryInfoUrl, absl::Cord(retry.SerializeAsString()));
}

absl::Status MakeError(absl::StatusCode code, std::string_view reason, const std::string& message,
                       int64_t retry_after_ms) {
  absl::Status status(code, message);
  AttachErrorFields({.reason = std::string(reason), .retry_after_ms = retry_after_ms}, status);
  return status;
}

std::string ReasonOf(const absl::Status& status) {
  const auto info = Payload<google::rpc::ErrorInfo>(status, kErrorInfoUrl);
  return info.has_value() ? info->reason() : "";
}

std::string RuleOf(const absl::Status& status) {
  const auto info = Payload<google::rpc::ErrorInfo>(status, kErrorInfoUrl);
  if (!info.has_value()) return "";
  const auto rule = info->metadata().find(kRule);
  return rule == info->metadata().end() ? "" : rule->second;
}

absl::Duration RetryAfterOf(const absl::Status& status) {
  const auto retry = Payload<google::rpc::RetryInfo>(status, kRetryInfoUrl);
  if (!retry.has_value()) return absl::ZeroDuration();
  const google::protobuf::Duration& delay = retry->retry_delay();
  return std::max(absl::ZeroDuration(), absl::Seconds(delay.seconds()) + absl::Nanoseconds(delay.nanos()));
}

std::optional<Item> ConditionFailedItem(const absl::Status& status) {
  const std::optional<v1::ConditionFailed> failed = Payload<v1::ConditionFailed>(status, kConditionFailedUrl);
  if (!failed.has_value() || !failed->has_item()) return std::nullopt;
  return ItemOrNothing(failed->item());
}

std::string_view CodeName(CancellationReason::Code code) {
  switch (code) {
    case CancellationReason::Code::kNone:
      return "None";
    case CancellationReason::Code::kConditionalCheckFailed:
      return "ConditionalCheckFailed";
    case CancellationReason::Code::kValidationError:
      return "ValidationError";
    case CancellationReason::Code::kItemCollectionSizeLimitExceeded:
      return "ItemCollectionSizeLimitExceeded";
    case CancellationReason::Code::kUnknown:
      break;
  }
  return "Unknown";
}

std::vector<CancellationReason> CancellationReasons(const absl::Status& status) {
  std::vector<CancellationReason> reasons;
  const std::optional<v1::TransactionCancelled> cancelled =
      Payload<v1::TransactionCancelled>(status, kTransactionCancelledUrl);
  if (!cancelled.has_value()) return reasons;
  reasons.reserve(cancelled->reasons_size());
  for (const v1::CancellationReason& message : cancelled->reasons()) {
    CancellationReason& reason = reasons.emplace_back();
    reason.code = CodeFromProto(message.code());
    reason.message = message.message();
    if (message.has_item()) reason.item = ItemOrNothing(message.item());
  }
  return reasons;
}

absl::Status WithOutcomes(const absl::Status& status, const std::vector<BatchWriteOutcome>& outcomes) {
  std::string letters;
  size_t counts[3] = {};
  for (const BatchWriteOutcome outcome : outcomes) {
    const size_t index = static_cast<size_t>(outcome);
    letters.push_back(kOutcomeLetters[index]);
    ++counts[index];
  }
  std::string message = MessageOf(status);
  if (std::count(std::begin(counts), std::end(counts), 0u) < 2) {
    message = "of " + std::to_string(outcomes.size()) + " writes " + std::to_string(counts[0]) +
              " were applied, " + std::to_string(counts[1]) + " were not, and of " +
              std::to_string(counts[2]) + " it is not known: " + message;
  }
  absl::Status with_outcomes(status.code(), message);
  status.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { with_outcomes.SetPayload(url, payload); });
  with_outcomes.SetPayload(kBatchOutcomesUrl, absl::Cord(letters));
  return with_outcomes;
}

std::vector<BatchWriteOutcome> BatchWriteOutcomes(const absl::Status& status) {
  std::vector<BatchWriteOutcome> outcomes;
  const absl::optional<absl::Cord> payload = status.GetPayload(kBatchOutcomesUrl);
  if (!payload.has_value()) return outcomes;
  for (const char letter : std::string(*payload)) {
    const size_t index = std::string_view(kOutcomeLetters).find(letter);
    outcomes.push_back(index == std::string_view::npos ? BatchWriteOutcome::kUnknown
                                                       : static_cast<BatchWriteOutcome>(index));
  }
  return outcomes;
}

}  // namespace itemdb
