#include "daemon/serving/call_log_fields.h"

#include <algorithm>

#include "storage/base/limits.h"

namespace itemdb::daemon {
namespace {

bool IsTableName(const std::string& name) {
  if (name.size() < storage::kMinTableNameBytes || name.size() > storage::kMaxTableNameBytes) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
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

}  // namespace

std::string LoggedTableName(const CallLogFields& log_fields) {
  if (log_fields.table_name.empty()) return "-";
  std::string name = IsTableName(log_fields.table_name) ? log_fields.table_name : "?";
  return log_fields.more_tables ? name + ",..." : name;
}

std::string_view CountedTableName(const CallLogFields& log_fields) {
  return !log_fields.more_tables && IsTableName(log_fields.table_name) ? log_fields.table_name
                                                                       : std::string_view();
}

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

}  // namespace itemdb::daemon
