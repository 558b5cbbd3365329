#include "daemon/http/api/error_texts.h"

#include <algorithm>

#include "storage/base/service_text.h"
#include "storage/base/status.h"

namespace itemdb::http {
namespace {

constexpr std::string_view kInData[] = {"PutItem",
                                        "GetItem",
                                        "UpdateItem",
                                        "DeleteItem",
                                        "Query",
                                        "Scan",
                                        "SearchVectors",
                                        "BatchGetItem",
                                        "BatchWriteItem",
                                        "TransactGetItems",
                                        "TransactWriteItems",
                                        "ExecuteStatement",
                                        "BatchExecuteStatement",
                                        "ExecuteTransaction"};
constexpr std::string_view kInSingleWrites[] = {"PutItem", "UpdateItem", "DeleteItem"};
constexpr std::string_view kInPutAndDelete[] = {"PutItem", "DeleteItem"};
constexpr std::string_view kInUpdate[] = {"UpdateItem"};
constexpr std::string_view kInQuery[] = {"Query"};
constexpr std::string_view kInScan[] = {"Scan"};

constexpr std::string_view kCounted = "1 validation error detected: ";
constexpr std::string_view kOfPlaceholder = "ExpressionAttributeValues contains invalid value: ";
constexpr std::string_view kForKey = " for key ";
constexpr std::string_view kOnlyWithExpressions =
    "ExpressionAttributeValues can only be specified when using expressions";

constexpr OperationText kTexts[] = {
    // A missing table.
    {"SEM-039", "Requested resource not found", kInData, TextChange::kReplaced,
     "Requested resource not found"},
    // Values (SEM-115). Numbers that are twice in a set are found by another part of the service.
    {"SEM-015", "Input collection contains duplicates", kInSingleWrites, TextChange::kNone},
    {"SEM-009", kOfPlaceholder, kInSingleWrites, TextChange::kUnwrapped, kCounted},
    {"SEM-010", kOfPlaceholder, kInSingleWrites, TextChange::kUnwrapped, kCounted},
    {"SEM-011", kOfPlaceholder, kInSingleWrites, TextChange::kUnwrapped, kCounted},
    {"SEM-015", kOfPlaceholder, kInSingleWrites, TextChange::kUnwrapped, kCounted},
    {"SEM-016", kOfPlaceholder, kInSingleWrites, TextChange::kUnwrapped, kCounted},
    {"SEM-017", kOfPlaceholder, kInSingleWrites, TextChange::kUnwrapped, kCounted},
    // The bounds of paths and of names are not errors of values. Those of what an update computes have rules
    // of
    // their own (EXP-26, EXP-30).
    {"SEM-017", "Invalid ", kInSingleWrites, TextChange::kNone},
    {"SEM-009", "ExpressionAttributeNames", kInSingleWrites, TextChange::kNone},
    {"SEM-009", "", kInSingleWrites, TextChange::kBefore, kCounted},
    {"SEM-010", "", kInSingleWrites, TextChange::kBefore, kCounted},
    {"SEM-011", "", kInSingleWrites, TextChange::kBefore, kCounted},
    {"SEM-015", "", kInSingleWrites, TextChange::kBefore, kCounted},
    {"SEM-016", "", kInSingleWrites, TextChange::kBefore, kCounted},
    {"SEM-017", "", kInSingleWrites, TextChange::kBefore, kCounted},
    // An expression that is too long.
    {"SEM-019", "Invalid ConditionExpression: Expression size", kInSingleWrites, TextChange::kBefore,
     kCounted},
    {"SEM-019", "Invalid UpdateExpression: Expression size", kInUpdate, TextChange::kBefore, kCounted},
    {"SEM-019", "Invalid FilterExpression: Expression size", kInQuery, TextChange::kReplaced,
     "Invalid FilterExpression: Expression size has exceeded the maximum allowed size;"},
    // Values without an expression that could use them.
    {"SEM-026", kOnlyWithExpressions, kInPutAndDelete, TextChange::kAfter, ": ConditionExpression is null"},
    {"SEM-026", kOnlyWithExpressions, kInUpdate, TextChange::kAfter,
     ": UpdateExpression and ConditionExpression are null"},
    {"SEM-026", kOnlyWithExpressions, kInQuery, TextChange::kAfter,
     ": FilterExpression and KeyConditionExpression are null"},
    {"SEM-026", kOnlyWithExpressions, kInScan, TextChange::kAfter, ": FilterExpression is null"},
    // Select and what does not go with it.
    {"SEM-036", "Cannot specify the ", kInQuery, TextChange::kBefore, kCounted},
    {"SEM-036", "Must specify the ", kInQuery, TextChange::kBefore, kCounted},
    {"SEM-036", "ALL_PROJECTED_ATTRIBUTES can be used only", kInQuery, TextChange::kBefore, kCounted},
    // A start key that does not fit the key schema.
    {"SEM-032", "The provided starting key is invalid: The provided key element", kInQuery,
     TextChange::kReplaced, "The provided starting key is invalid"},
};

bool Fits(const OperationText& row, std::string_view rule, std::string_view text,
          std::string_view operation) {
  return row.rule == rule && text.starts_with(row.begins) &&
         std::find(row.operations.begin(), row.operations.end(), operation) != row.operations.end();
}

// `text` without "ExpressionAttributeValues contains invalid value: " and " for key :x".
std::string_view Unwrapped(std::string_view text) {
  if (text.starts_with(kOfPlaceholder)) text.remove_prefix(kOfPlaceholder.size());
  return text.substr(0, std::min(text.rfind(kForKey), text.size()));
}

}  // namespace

std::span<const OperationText> OperationTexts() { return kTexts; }
std::span<const std::string_view> DataOperations() { return kInData; }

std::string ServiceTextFor(const absl::Status& status, std::string_view operation) {
  std::string text = storage::ServiceTextOf(status);
  const std::string rule = storage::RuleOf(status);
  const auto* row = std::find_if(std::begin(kTexts), std::end(kTexts),
                                 [&](const OperationText& one) { return Fits(one, rule, text, operation); });
  if (row == std::end(kTexts)) return text;
  switch (row->change) {
    case TextChange::kNone:
      return text;
    case TextChange::kReplaced:
      return std::string(row->text);
    case TextChange::kBefore:
      return std::string(row->text).append(text);
    case TextChange::kAfter:
      return text.append(row->text);
    case TextChange::kUnwrapped:
      return std::string(row->text).append(Unwrapped(text));
  }
  return text;
}

}  // namespace itemdb::http
