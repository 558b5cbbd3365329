// What log lines may say about a call: its table and the number of its items, never the content of items.
#pragma once

#include <google/protobuf/message_lite.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "itemdb/wire/data.pb.h"
#include "storage/database.h"

namespace itemdb::daemon {

struct CallLogFields {
  // The first table in the request: a name, which need not be valid, or an ARN. Empty: the request names
  // none.
  std::string table_name;
  // The request names more than one table.
  bool more_tables = false;
  // Items that the request writes or reads by key.
  int64_t items = 0;
};

// A cancelled transaction. Storage reports it in the reply message.
inline constexpr std::string_view kReasonTransactionCancelled = "TRANSACTION_CANCELLED";

// The table name for a log line: "-" without one, "?" if invalid, "orders,..." for several tables.
std::string LoggedTableName(const CallLogFields& log_fields);
// The table name for counters: empty without one, if it is invalid, or for several tables.
std::string_view CountedTableName(const CallLogFields& log_fields);

CallLogFields LogFieldsOf(const wire::BatchWriteItemRequest& request);
CallLogFields LogFieldsOf(const wire::BulkWriteChunk& chunk);
CallLogFields LogFieldsOf(const wire::TransactWriteItemsRequest& request);
CallLogFields LogFieldsOf(const wire::BatchGetItemRequest& request);
CallLogFields LogFieldsOf(const wire::TransactGetItemsRequest& request);
// The tables are those that the texts of the statements name.
CallLogFields LogFieldsOf(const wire::ExecuteStatementRequest& request);
CallLogFields LogFieldsOf(const wire::BatchExecuteStatementRequest& request);
CallLogFields LogFieldsOf(const wire::ExecuteTransactionRequest& request);
inline CallLogFields LogFieldsOf(const wire::WriteItemRequest& request) {
  return {.table_name = request.table_name(), .items = 1};
}
inline CallLogFields LogFieldsOf(const wire::GetItemRequest& request) {
  return {.table_name = request.table_name(), .items = 1};
}
// For all other requests.
template <typename Request>
CallLogFields LogFieldsOf(const Request& request) {
  if constexpr (requires { std::string(request.table_name()); }) {
    return {.table_name = request.table_name()};
  } else if constexpr (requires { std::string(request.table_name); }) {
    return {.table_name = request.table_name};
  } else {
    return {};
  }
}

// The number of items in a reply; -1 if the reply does not count items.
inline int64_t ItemsOf(const storage::Page& page) { return page.reply.count(); }
int64_t ItemsOf(const storage::StatementPage& page);
inline int64_t ItemsOf(const wire::GetItemReply& reply) { return reply.has_item() ? 1 : 0; }
int64_t ItemsOf(const wire::BatchGetItemReply& reply);
int64_t ItemsOf(const wire::TransactGetItemsReply& reply);
int64_t ItemsOf(const wire::BatchExecuteStatementReply& reply);
int64_t ItemsOf(const wire::ExecuteTransactionReply& reply);
inline int64_t ItemsOf(const wire::SearchVectorsReply& reply) { return reply.search_results_size(); }
inline int64_t ItemsOf(const google::protobuf::MessageLite&) { return -1; }

// The reason of an answer that is no error and no success either: a condition was false. Empty: success.
inline std::string_view OutcomeOf(const wire::WriteItemReply& reply) {
  return reply.has_condition_failed() ? storage::kReasonConditionalCheckFailed : "";
}
inline std::string_view OutcomeOf(const wire::ExecuteStatementReply& reply) {
  return reply.has_condition_failed() ? storage::kReasonConditionalCheckFailed : "";
}
inline std::string_view OutcomeOf(const storage::StatementPage& page) { return OutcomeOf(page.reply); }
inline std::string_view OutcomeOf(const wire::TransactWriteItemsReply& reply) {
  return reply.has_cancelled() ? kReasonTransactionCancelled : "";
}
inline std::string_view OutcomeOf(const wire::TransactGetItemsReply& reply) {
  return reply.has_cancelled() ? kReasonTransactionCancelled : "";
}
inline std::string_view OutcomeOf(const wire::ExecuteTransactionReply& reply) {
  return reply.has_cancelled() ? kReasonTransactionCancelled : "";
}
template <typename Reply>
std::string_view OutcomeOf(const Reply&) {
  return "";
}

// Whether a call changed no more than the time of one that the audit log has: a hold that was only renewed.
inline bool IsRoutine(const v1::HoldChangesReply& reply) {
  return reply.hold().creation_time_us() != reply.hold().renewed_time_us();
}
template <typename Reply>
bool IsRoutine(const Reply&) {
  return false;
}

}  // namespace itemdb::daemon
