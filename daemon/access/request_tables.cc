#include "daemon/access/request_tables.h"

#include <utility>

namespace itemdb::daemon {
namespace {

// For messages whose elements have a `table_name`.
template <typename Elements>
void AddEach(const Elements& elements, Role role, std::vector<TableUse>* uses) {
  for (const auto& element : elements) uses->push_back({.table = element.table_name(), .role = role});
}

template <typename Statement>
absl::Status AddStatement(const Statement& statement, std::vector<TableUse>* uses) {
  ITEMDB_ASSIGN_OR_RETURN(
      storage::StatementTarget target,
      storage::Database::TargetOfStatement(statement.statement(), statement.parameters()));
  uses->push_back({.table = std::move(target.table_name),
                   .role = target.writes ? Role::kWrite : Role::kRead,
                   .action = storage::Database::StatementAction(statement.statement())});
  return absl::OkStatus();
}

absl::Status AddNamed(absl::StatusOr<std::string> table, Role role, std::vector<TableUse>* uses) {
  ITEMDB_RETURN_IF_ERROR(table.status());
  uses->push_back({.table = *std::move(table), .role = role});
  return absl::OkStatus();
}

}  // namespace

absl::Status AddTables(const wire::BatchGetItemRequest& request, Role role, std::vector<TableUse>* uses) {
  AddEach(request.request_items(), role, uses);
  return absl::OkStatus();
}

absl::Status AddTables(const wire::BatchWriteItemRequest& request, Role role, std::vector<TableUse>* uses) {
  AddEach(request.request_items(), role, uses);
  return absl::OkStatus();
}

absl::Status AddTables(const wire::BulkWriteChunk& request, Role role, std::vector<TableUse>* uses) {
  AddEach(request.request_items(), role, uses);
  return absl::OkStatus();
}

absl::Status AddTables(const wire::TransactGetItemsRequest& request, Role role, std::vector<TableUse>* uses) {
  AddEach(request.transact_items(), role, uses);
  return absl::OkStatus();
}

absl::Status AddTables(const wire::TransactWriteItemsRequest& request, Role role,
                       std::vector<TableUse>* uses) {
  for (const wire::TransactWriteItem& item : request.transact_items()) {
    switch (item.action_case()) {
      case wire::TransactWriteItem::kPut:
        uses->push_back({.table = item.put().table_name(), .role = role});
        break;
      case wire::TransactWriteItem::kUpdate:
        uses->push_back({.table = item.update().table_name(), .role = role});
        break;
      case wire::TransactWriteItem::kDelete:
        uses->push_back({.table = item.delete_().table_name(), .role = role});
        break;
      case wire::TransactWriteItem::kConditionCheck:
        uses->push_back({.table = item.condition_check().table_name(), .role = Role::kRead});
        break;
      default:
        // An element without an action, which the database refuses.
        uses->push_back({.table = "", .role = role});
        break;
    }
  }
  return absl::OkStatus();
}

absl::Status AddTables(const wire::ExecuteStatementRequest& request, Role, std::vector<TableUse>* uses) {
  return AddStatement(request, uses);
}

absl::Status AddTables(const wire::BatchExecuteStatementRequest& request, Role, std::vector<TableUse>* uses) {
  for (const wire::BatchStatement& statement : request.statements())
    ITEMDB_RETURN_IF_ERROR(AddStatement(statement, uses));
  return absl::OkStatus();
}

absl::Status AddTables(const wire::ExecuteTransactionRequest& request, Role, std::vector<TableUse>* uses) {
  for (const wire::TransactStatement& statement : request.transact_statements())
    ITEMDB_RETURN_IF_ERROR(AddStatement(statement, uses));
  return absl::OkStatus();
}

absl::Status AddTables(const storage::DescribeStreamRequest& request, Role role,
                       std::vector<TableUse>* uses) {
  return AddNamed(storage::Database::TableOfStreamArn(request.stream_arn), role, uses);
}

absl::Status AddTables(const storage::ShardIteratorRequest& request, Role role, std::vector<TableUse>* uses) {
  return AddNamed(storage::Database::TableOfStreamArn(request.stream_arn), role, uses);
}

absl::Status AddTables(const storage::GetRecordsRequest& request, Role role, std::vector<TableUse>* uses) {
  return AddNamed(storage::Database::TableOfShardIterator(request.shard_iterator), role, uses);
}

absl::Status AddTables(const v1::DescribeBackupRequest& request, Role role, std::vector<TableUse>* uses) {
  return AddNamed(storage::Database::TableOfBackupArn(request.backup_arn()), role, uses);
}

absl::Status AddTables(const v1::DeleteBackupRequest& request, Role role, std::vector<TableUse>* uses) {
  return AddNamed(storage::Database::TableOfBackupArn(request.backup_arn()), role, uses);
}

absl::Status AddTables(const v1::RestoreTableToPointInTimeRequest& request, Role role,
                       std::vector<TableUse>* uses) {
  uses->push_back({.table = request.target_table_name(), .role = role});
  // The request may give either; one that gives both is refused later.
  for (const std::string& source : {request.source_table_name(), request.source_table_arn()})
    if (!source.empty()) ITEMDB_RETURN_IF_ERROR(AddNamed(source, role, uses));
  return absl::OkStatus();
}

absl::Status AddTables(const v1::RestoreTableFromBackupRequest& request, Role role,
                       std::vector<TableUse>* uses) {
  uses->push_back({.table = request.target_table_name(), .role = role});
  return AddNamed(storage::Database::TableOfBackupArn(request.backup_arn()), role, uses);
}

absl::Status AddTables(const v1::ExportTableToPointInTimeRequest& request, Role role,
                       std::vector<TableUse>* uses) {
  uses->push_back({.table = request.table_arn(), .role = role});
  return absl::OkStatus();
}

absl::Status AddTables(const v1::DescribeExportRequest& request, Role role, std::vector<TableUse>* uses) {
  return AddNamed(storage::Database::TableOfExportArn(request.export_arn()), role, uses);
}

absl::Status AddTables(const v1::DescribeImportRequest& request, Role role, std::vector<TableUse>* uses) {
  return AddNamed(storage::Database::TableOfImportArn(request.import_arn()), role, uses);
}

absl::Status AddTables(const v1::DescribeBulkOperationRequest& request, Role role,
                       std::vector<TableUse>* uses) {
  return AddNamed(storage::Database::TableOfBulkOperationArn(request.bulk_operation_arn()), role, uses);
}

absl::Status AddTables(const v1::CancelBulkOperationRequest& request, Role role,
                       std::vector<TableUse>* uses) {
  return AddNamed(storage::Database::TableOfBulkOperationArn(request.bulk_operation_arn()), role, uses);
}

absl::Status AddTables(const v1::ImportTableRequest& request, Role role, std::vector<TableUse>* uses) {
  return AddTables(request.table_creation_parameters(), role, uses);
}

}  // namespace itemdb::daemon
