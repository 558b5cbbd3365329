// The tables that a request names, and the role that it needs for each. Requests of both protocols come here:
// the messages of gRPC, which HTTP makes from JSON too, and the structs of the operations that only HTTP has.
//
// A request that names no table is about all tables (AddTables() adds none, or the empty name). A test
// compares the fields of all requests with those that are read here, so that no new field is forgotten.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/access/role.h"
#include "storage/database.h"

namespace itemdb::daemon {

struct TableUse {
  // As the request has it: a table name, an ARN, or any other text. Empty: all tables.
  std::string table;
  Role role = Role::kAdmin;
  // Of a PartiQL statement, its action in DynamoDB's permissions, such as "PartiQLSelect".
  std::string_view action = {};
};

// Appends the tables of `request`. `role` is the role that the operation needs.
//
// INVALID_ARGUMENT: a statement, an ARN or a shard iterator is not valid. PERMISSION_DENIED: an ARN is of
// another account. The operation refuses such a request with the same error.
absl::Status AddTables(const wire::BatchGetItemRequest& request, Role role, std::vector<TableUse>* uses);
absl::Status AddTables(const wire::BatchWriteItemRequest& request, Role role, std::vector<TableUse>* uses);
absl::Status AddTables(const wire::BulkWriteChunk& request, Role role, std::vector<TableUse>* uses);
absl::Status AddTables(const wire::TransactGetItemsRequest& request, Role role, std::vector<TableUse>* uses);
// A ConditionCheck needs the role read, whatever `role` is.
absl::Status AddTables(const wire::TransactWriteItemsRequest& request, Role role,
                       std::vector<TableUse>* uses);
// SELECT and EXISTS need the role read, all other statements the role write.
absl::Status AddTables(const wire::ExecuteStatementRequest& request, Role role, std::vector<TableUse>* uses);
absl::Status AddTables(const wire::BatchExecuteStatementRequest& request, Role role,
                       std::vector<TableUse>* uses);
absl::Status AddTables(const wire::ExecuteTransactionRequest& request, Role role,
                       std::vector<TableUse>* uses);
absl::Status AddTables(const storage::DescribeStreamRequest& request, Role role, std::vector<TableUse>* uses);
absl::Status AddTables(const storage::ShardIteratorRequest& request, Role role, std::vector<TableUse>* uses);
absl::Status AddTables(const storage::GetRecordsRequest& request, Role role, std::vector<TableUse>* uses);

// The tables of backups' ARNs. A restored table needs `role` too.
absl::Status AddTables(const v1::DescribeBackupRequest& request, Role role, std::vector<TableUse>* uses);
absl::Status AddTables(const v1::DeleteBackupRequest& request, Role role, std::vector<TableUse>* uses);
absl::Status AddTables(const v1::RestoreTableToPointInTimeRequest& request, Role role,
                       std::vector<TableUse>* uses);
absl::Status AddTables(const v1::RestoreTableFromBackupRequest& request, Role role,
                       std::vector<TableUse>* uses);

// The tables of ARNs of tables and exports.
absl::Status AddTables(const v1::ExportTableToPointInTimeRequest& request, Role role,
                       std::vector<TableUse>* uses);
absl::Status AddTables(const v1::DescribeExportRequest& request, Role role, std::vector<TableUse>* uses);

// The table of an import's ARN; the table that an import makes.
absl::Status AddTables(const v1::DescribeImportRequest& request, Role role, std::vector<TableUse>* uses);
absl::Status AddTables(const v1::ImportTableRequest& request, Role role, std::vector<TableUse>* uses);

// The table of a bulk put's ARN.
absl::Status AddTables(const v1::DescribeBulkOperationRequest& request, Role role,
                       std::vector<TableUse>* uses);
absl::Status AddTables(const v1::CancelBulkOperationRequest& request, Role role, std::vector<TableUse>* uses);

// All other requests: those that name one table as `table_name`, and those that name none.
template <typename Request>
absl::Status AddTables(const Request& request, Role role, std::vector<TableUse>* uses) {
  if constexpr (requires { std::string(request.table_name()); }) {
    uses->push_back({.table = request.table_name(), .role = role});
  } else if constexpr (requires { std::string(request.table_name); }) {
    uses->push_back({.table = request.table_name, .role = role});
  }
  return absl::OkStatus();
}

}  // namespace itemdb::daemon
