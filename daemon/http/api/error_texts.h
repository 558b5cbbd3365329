// How the text of an error depends on the operation.
//
// Storage gives an error DynamoDB's sentence (storage/base/service_text.h). For some errors DynamoDB has
// different sentences in different operations. One table, in the .cc file, has them all.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace itemdb::http {

// What becomes of the service text of a status.
enum class TextChange {
  // Nothing: the row is an exception from a row after it.
  kNone,
  // OperationText::text takes its place.
  kReplaced,
  // OperationText::text begins or ends it.
  kBefore,
  kAfter,
  // The words in which storage wraps the error of a value of ExpressionAttributeValues are taken away, and
  // OperationText::text begins it.
  kUnwrapped,
};

struct OperationText {
  // The rule that the error names.
  std::string_view rule;
  // The beginning of the service text; empty: any.
  std::string_view begins;
  // The names of the operations.
  std::span<const std::string_view> operations;
  TextChange change;
  std::string_view text = {};
};

// The table. The first row that fits holds.
std::span<const OperationText> OperationTexts();

// The operations that read and write items; they do not name a missing table.
std::span<const std::string_view> DataOperations();

// The text of `status` in the reply of `operation`, e.g. "PutItem". Empty: the reply has no text.
std::string ServiceTextFor(const absl::Status& status, std::string_view operation);

}  // namespace itemdb::http
