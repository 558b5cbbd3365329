#include "daemon/serving/call_log_fields.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <array>
#include <utility>

#include "storage/base/limits.h"

namespace itemdb::daemon {
namespace {

// Every call is counted, so this is a look-up for each character.
constexpr auto kOfTableNames = [] {
  std::array<bool, 256> of_names{};
  for (const char* range : {"az", "AZ", "09", "__", "--", ".."}) {
    for (char c = range[0]; c <= range[1]; ++c) of_names[static_cast<unsigned char>(c)] = true;
  }
  return of_names;
}();

bool IsTableName(std::string_view name) {
  if (name.size() < storage::kMinTableNameBytes || name.size() > storage::kMaxTableNameBytes) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return kOfTableNames[static_cast<unsigned char>(c)]; });
}

// The name in a name or an ARN; empty if it is not valid.
std::string_view TableNameIn(std::string_view name_or_arn) {
  if (IsTableName(name_or_arn)) return name_or_arn;  // Nearly always.
  const std::string_view name = storage::Database::TableNameOf(name_or_arn);
  return IsTableName(name) ? name : std::string_view();
}

const std::string& TableOf(const wire::TransactWriteItem& item) {
  switch (item.action_case()) {
    case wire::TransactWriteItem::kPut:
      return item.put().table_name();
    case wire::TransactWriteItem::kUpdate:
      return item.update().table_name();
    case wire::TransactWriteItem::kDelete:
      return item.delete_().table_name();
    default:
      return item.condition_check().table_name();
  }
}

template <typename Responses>
int64_t ItemsIn(const Responses& responses) {
  return std::count_if(responses.begin(), responses.end(),
                       [](const auto& response) { return response.has_item(); });
}

template <typename Statements>
CallLogFields LogFieldsOfStatements(const Statements& statements) {
  CallLogFields log_fields;
  log_fields.items = statements.size();
  for (const auto& statement : statements) {
    std::string table = storage::Database::TableNameInStatement(statement.statement());
    if (log_fields.table_name.empty()) {
      log_fields.table_name = std::move(table);
    } else if (table != log_fields.table_name) {
      log_fields.more_tables = true;
      break;
    }
  }
  return log_fields;
}

}  // namespace

std::string LoggedTableName(const CallLogFields& log_fields) {
  if (log_fields.table_name.empty()) return "-";
  const std::string_view named = TableNameIn(log_fields.table_name);
  const std::string name(named.empty() ? "?" : named);
  return log_fields.more_tables ? name + ",..." : name;
}

std::string_view CountedTableName(const CallLogFields& log_fields) {
  return log_fields.more_tables ? std::string_view() : TableNameIn(log_fields.table_name);
}

int64_t ItemsOf(const storage::StatementPage& page) {
  google::protobuf::io::CodedInputStream bytes(reinterpret_cast<const uint8_t*>(page.encoded_items.data()),
                                               static_cast<int>(page.encoded_items.size()));
  int64_t items = 0;
  uint32_t length = 0;
  while (bytes.ReadTag() != 0 && bytes.ReadVarint32(&length) && bytes.Skip(static_cast<int>(length))) ++items;
  return items;
}

int64_t ItemsOf(const wire::BatchGetItemReply& reply) {
  int64_t items = 0;
  for (const auto& table : reply.responses()) items += table.items_size();
  return items;
}

int64_t ItemsOf(const wire::TransactGetItemsReply& reply) { return ItemsIn(reply.responses()); }
int64_t ItemsOf(const wire::BatchExecuteStatementReply& reply) { return ItemsIn(reply.responses()); }
int64_t ItemsOf(const wire::ExecuteTransactionReply& reply) { return ItemsIn(reply.responses()); }

CallLogFields LogFieldsOf(const wire::BatchWriteItemRequest& request) {
  CallLogFields log_fields;
  if (request.request_items_size() > 0) log_fields.table_name = request.request_items(0).table_name();
  log_fields.more_tables = request.request_items_size() > 1;
  for (const auto& table : request.request_items()) log_fields.items += table.write_requests_size();
  return log_fields;
}

CallLogFields LogFieldsOf(const wire::BulkWriteChunk& chunk) {
  CallLogFields log_fields;
  if (chunk.request_items_size() > 0) log_fields.table_name = chunk.request_items(0).table_name();
  const auto& tables = chunk.request_items();
  log_fields.more_tables = std::any_of(tables.begin(), tables.end(), [&](const auto& table) {
    return table.table_name() != log_fields.table_name;
  });
  for (const auto& table : tables) log_fields.items += table.write_requests_size();
  return log_fields;
}

CallLogFields LogFieldsOf(const wire::TransactWriteItemsRequest& request) {
  CallLogFields log_fields;
  log_fields.items = request.transact_items_size();
  if (log_fields.items == 0) return log_fields;
  log_fields.table_name = TableOf(request.transact_items(0));
  const auto& items = request.transact_items();
  log_fields.more_tables = std::any_of(
      items.begin(), items.end(), [&](const auto& item) { return TableOf(item) != log_fields.table_name; });
  return log_fields;
}

CallLogFields LogFieldsOf(const wire::BatchGetItemRequest& request) {
  CallLogFields log_fields;
  if (request.request_items_size() > 0) log_fields.table_name = request.request_items(0).table_name();
  log_fields.more_tables = request.request_items_size() > 1;
  for (const auto& table : request.request_items()) log_fields.items += table.keys_size();
  return log_fields;
}

CallLogFields LogFieldsOf(const wire::TransactGetItemsRequest& request) {
  CallLogFields log_fields;
  log_fields.items = request.transact_items_size();
  if (log_fields.items == 0) return log_fields;
  log_fields.table_name = request.transact_items(0).table_name();
  const auto& items = request.transact_items();
  log_fields.more_tables = std::any_of(items.begin(), items.end(), [&](const auto& item) {
    return item.table_name() != log_fields.table_name;
  });
  return log_fields;
}

CallLogFields LogFieldsOf(const wire::ExecuteStatementRequest& request) {
  return {.table_name = storage::Database::TableNameInStatement(request.statement())};
}

CallLogFields LogFieldsOf(const wire::BatchExecuteStatementRequest& request) {
  return LogFieldsOfStatements(request.statements());
}

CallLogFields LogFieldsOf(const wire::ExecuteTransactionRequest& request) {
  return LogFieldsOfStatements(request.transact_statements());
}

}  // namespace itemdb::daemon
