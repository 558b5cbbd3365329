// A gRPC server whose answers a test defines.
//
//   FakeDaemon daemon;
//   daemon.get_item = [](const auto& request, v1::GetItemReply* reply) { return grpc::Status::OK; };
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <grpcpp/grpcpp.h>

#include "itemdb/v1/admin.grpc.pb.h"
#include "itemdb/v1/backups.grpc.pb.h"
#include "itemdb/v1/bulk_puts.grpc.pb.h"
#include "itemdb/v1/changes.grpc.pb.h"
#include "itemdb/v1/data.grpc.pb.h"
#include "itemdb/v1/exports.grpc.pb.h"
#include "itemdb/v1/imports.grpc.pb.h"
#include "itemdb/v1/tables.grpc.pb.h"

namespace itemdb {

// A status as a daemon sends it, with details.
grpc::Status ErrorReply(grpc::StatusCode code, const std::string& reason, const std::string& message,
                        int64_t retry_after_ms = 0);

// The description that a daemon returns for a CreateTable request. Without throughput it shows 0 and 0, as
// DynamoDB does.
v1::TableDescription DescribedAs(const v1::CreateTableRequest& request);

// Listens on a port of 127.0.0.1 that the kernel chooses, or on a unix socket. Set the handlers before the
// first call; they may run on several threads at once. An RPC without a handler is UNIMPLEMENTED.
class FakeDaemon {
 public:
  template <typename Request, typename Reply>
  using Handler = std::function<grpc::Status(const Request&, Reply*)>;

  // `address` is "127.0.0.1:0" or "unix:/PATH".
  explicit FakeDaemon(
      const std::string& address = "127.0.0.1:0",
      std::shared_ptr<grpc::ServerCredentials> credentials = grpc::InsecureServerCredentials());
  ~FakeDaemon();

  // "127.0.0.1:PORT" or "unix:/PATH".
  const std::string& endpoint() const { return endpoint_; }

  Handler<v1::PutItemRequest, v1::PutItemReply> put_item;
  Handler<v1::GetItemRequest, v1::GetItemReply> get_item;
  Handler<v1::UpdateItemRequest, v1::UpdateItemReply> update_item;
  Handler<v1::DeleteItemRequest, v1::DeleteItemReply> delete_item;
  Handler<v1::BatchWriteItemRequest, v1::BatchWriteItemReply> batch_write_item;
  Handler<v1::TransactWriteItemsRequest, v1::TransactWriteItemsReply> transact_write_items;
  Handler<v1::BatchGetItemRequest, v1::BatchGetItemReply> batch_get_item;
  Handler<v1::TransactGetItemsRequest, v1::TransactGetItemsReply> transact_get_items;
  Handler<v1::QueryRequest, v1::QueryReply> query;
  Handler<v1::SearchVectorsRequest, v1::SearchVectorsReply> search_vectors;
  Handler<v1::ScanRequest, v1::ScanReply> scan;
  Handler<v1::ExecuteStatementRequest, v1::ExecuteStatementReply> execute_statement;
  Handler<v1::BatchExecuteStatementRequest, v1::BatchExecuteStatementReply> batch_execute_statement;
  Handler<v1::ExecuteTransactionRequest, v1::ExecuteTransactionReply> execute_transaction;
  Handler<v1::CreateTableRequest, v1::CreateTableReply> create_table;
  Handler<v1::DescribeTableRequest, v1::DescribeTableReply> describe_table;
  Handler<v1::ListTablesRequest, v1::ListTablesReply> list_tables;
  Handler<v1::DeleteTableRequest, v1::DeleteTableReply> delete_table;
  Handler<v1::UpdateTableRequest, v1::UpdateTableReply> update_table;
  Handler<v1::TagTableRequest, v1::TagTableReply> tag_table;
  Handler<v1::UntagTableRequest, v1::UntagTableReply> untag_table;
  Handler<v1::UpdateTimeToLiveRequest, v1::UpdateTimeToLiveReply> update_time_to_live;
  Handler<v1::DescribeTimeToLiveRequest, v1::DescribeTimeToLiveReply> describe_time_to_live;
  Handler<v1::UpdateContributorInsightsRequest, v1::UpdateContributorInsightsReply>
      update_contributor_insights;
  Handler<v1::DescribeContributorInsightsRequest, v1::DescribeContributorInsightsReply>
      describe_contributor_insights;
  Handler<v1::ListContributorInsightsRequest, v1::ListContributorInsightsReply> list_contributor_insights;
  Handler<v1::DescribeLimitsRequest, v1::DescribeLimitsReply> describe_limits;
  Handler<v1::CreateBackupRequest, v1::CreateBackupReply> create_backup;
  Handler<v1::DescribeBackupRequest, v1::DescribeBackupReply> describe_backup;
  Handler<v1::ListBackupsRequest, v1::ListBackupsReply> list_backups;
  Handler<v1::DeleteBackupRequest, v1::DeleteBackupReply> delete_backup;
  Handler<v1::RestoreTableFromBackupRequest, v1::RestoreTableFromBackupReply> restore_table_from_backup;
  Handler<v1::RestoreTableToPointInTimeRequest, v1::RestoreTableToPointInTimeReply>
      restore_table_to_point_in_time;
  Handler<v1::DescribeContinuousBackupsRequest, v1::DescribeContinuousBackupsReply>
      describe_continuous_backups;
  Handler<v1::UpdateContinuousBackupsRequest, v1::UpdateContinuousBackupsReply> update_continuous_backups;
  Handler<v1::ExportTableToPointInTimeRequest, v1::ExportTableToPointInTimeReply>
      export_table_to_point_in_time;
  Handler<v1::DescribeExportRequest, v1::DescribeExportReply> describe_export;
  Handler<v1::ListExportsRequest, v1::ListExportsReply> list_exports;
  Handler<v1::ImportTableRequest, v1::ImportTableReply> import_table;
  Handler<v1::DescribeImportRequest, v1::DescribeImportReply> describe_import;
  Handler<v1::ListImportsRequest, v1::ListImportsReply> list_imports;
  Handler<v1::StartBulkPutItemsRequest, v1::StartBulkPutItemsReply> start_bulk_put_items;
  Handler<v1::DescribeBulkOperationRequest, v1::DescribeBulkOperationReply> describe_bulk_operation;
  Handler<v1::ListBulkOperationsRequest, v1::ListBulkOperationsReply> list_bulk_operations;
  Handler<v1::CancelBulkOperationRequest, v1::CancelBulkOperationReply> cancel_bulk_operation;
  Handler<v1::ReadChangesRequest, v1::ReadChangesReply> read_changes;
  Handler<v1::HoldChangesRequest, v1::HoldChangesReply> hold_changes;
  Handler<v1::ReleaseChangesRequest, v1::ReleaseChangesReply> release_changes;
  Handler<v1::UndoChangesRequest, v1::UndoChangesReply> undo_changes;
  Handler<v1::GetStatusRequest, v1::GetStatusReply> get_status;
  Handler<v1::CheckDatabaseRequest, v1::CheckDatabaseReply> check_database;
  Handler<v1::GetAccessPatternsRequest, v1::GetAccessPatternsReply> get_access_patterns;
  Handler<v1::GetTopKeysRequest, v1::GetTopKeysReply> get_top_keys;
  Handler<v1::CreateDatabaseBackupRequest, v1::DatabaseBackup> create_database_backup;
  Handler<v1::ListDatabaseBackupsRequest, v1::ListDatabaseBackupsReply> list_database_backups;
  Handler<v1::VerifyDatabaseBackupRequest, v1::DatabaseBackup> verify_database_backup;
  Handler<v1::DeleteDatabaseBackupsRequest, v1::DeleteDatabaseBackupsReply> delete_database_backups;
  Handler<v1::ListDamageRequest, v1::ListDamageReply> list_damage;
  Handler<v1::DiscardDamagedItemRequest, v1::DiscardDamagedItemReply> discard_damaged_item;
  Handler<v1::PromoteRequest, v1::PromoteReply> promote;

 private:
  class Services;
  std::unique_ptr<Services> services_;
  std::unique_ptr<grpc::Server> server_;
  std::string endpoint_;
};

}  // namespace itemdb
