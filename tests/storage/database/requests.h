// Functions that make or send a request in one line, for the tests of this folder.
#pragma once

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/test_database.h"

namespace itemdb::testing {

// A VALIDATION error whose message contains `text`.
MATCHER_P(IsInvalid, text, "is INVALID_ARGUMENT with a message containing '" + std::string(text) + "'") {
  const absl::Status& status = arg;
  *result_listener << status.ToString();
  return absl::IsInvalidArgument(status) && ReasonOf(status) == kReasonValidation &&
         MessageOf(status).find(text) != std::string::npos;
}

MATCHER(IsTableNotFound, "") {
  const absl::Status& status = arg;
  *result_listener << status.ToString();
  return absl::IsNotFound(status) && ReasonOf(status) == kReasonResourceNotFound;
}

// The request of a put (with an item), or of a delete or condition check (with a key).
wire::WriteItemRequest WriteRequest(const std::string& table, Attributes key_or_item);
wire::WriteItemRequest UpdateRequest(const std::string& table, Attributes key, const std::string& expression,
                                     Attributes values = {});
// `request` with a condition, and with the request to return the item if the condition is false.
wire::WriteItemRequest If(wire::WriteItemRequest request, const std::string& condition,
                          Attributes values = {});
wire::PageRequest QueryRequest(const std::string& table, const std::string& condition, Attributes values);
wire::PageRequest ScanRequest(const std::string& table);

absl::StatusOr<wire::WriteItemReply> PutItem(TestDatabase& database, const wire::WriteItemRequest& request);
absl::StatusOr<wire::WriteItemReply> DeleteItem(TestDatabase& database,
                                                const wire::WriteItemRequest& request);
absl::StatusOr<wire::GetItemReply> GetItem(TestDatabase& database, const wire::GetItemRequest& request);
absl::StatusOr<wire::BatchWriteItemReply> BatchWrite(TestDatabase& database,
                                                     const wire::BatchWriteItemRequest& request);
absl::StatusOr<v1::CreateTableReply> CreateTable(TestDatabase& database,
                                                 const v1::CreateTableRequest& request);
absl::StatusOr<v1::DeleteTableReply> DeleteTable(TestDatabase& database, const std::string& table);
v1::TableDescription Describe(TestDatabase& database, const std::string& table);
// The whole change log.
std::vector<v1::ChangeRecord> Changes(TestDatabase& database);
// The items of all pages, each as Show() writes it; `pages` counts the pages.
std::vector<std::string> QueryAll(TestDatabase& database, wire::PageRequest request, int* pages = nullptr);
std::vector<std::string> ScanAll(TestDatabase& database, wire::PageRequest request, int* pages = nullptr);

}  // namespace itemdb::testing
