#include "tests/support/fake_daemon.h"

#include "tests/support/error_details.h"

namespace itemdb {
namespace {

template <typename Request, typename Reply>
grpc::Status Answer(const FakeDaemon::Handler<Request, Reply>& handler, const Request* request,
                    Reply* reply) {
  if (!handler) return grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "this test has no such handler");
  return handler(*request, reply);
}

}  // namespace

grpc::Status ErrorReply(grpc::StatusCode code, const std::string& reason, const std::string& message,
                        int64_t retry_after_ms) {
  const ErrorDetails details{
      .reason = reason, .domain = "itemdb", .rule = "", .retry_after_ms = retry_after_ms};
  return grpc::Status(code, message, EncodeErrorDetails(code, message, details));
}

v1::TableDescription DescribedAs(const v1::CreateTableRequest& request) {
  v1::TableDescription table;
  table.set_table_name(request.table_name());
  table.set_table_id("id");
  table.set_storage_id(12);
  table.set_table_status(v1::TABLE_STATUS_ACTIVE);
  table.set_creation_time_ms(1'700'000'000'123);
  *table.mutable_attribute_definitions() = request.attribute_definitions();
  *table.mutable_key_schema() = request.key_schema();
  for (const v1::GlobalSecondaryIndex& index : request.global_secondary_indexes()) {
    v1::GlobalSecondaryIndexDescription* described = table.add_global_secondary_indexes();
    described->set_index_name(index.index_name());
    *described->mutable_key_schema() = index.key_schema();
    *described->mutable_projection() = index.projection();
    *described->mutable_provisioned_throughput() = index.provisioned_throughput();
    described->set_index_status(v1::TABLE_STATUS_ACTIVE);
    described->set_item_count(8);
  }
  for (const v1::LocalSecondaryIndex& index : request.local_secondary_indexes()) {
    v1::LocalSecondaryIndexDescription* described = table.add_local_secondary_indexes();
    described->set_index_name(index.index_name());
    *described->mutable_key_schema() = index.key_schema();
    *described->mutable_projection() = index.projection();
    described->set_item_count(7);
  }
  table.set_deletion_protection_enabled(request.deletion_protection_enabled());
  *table.mutable_tags() = request.tags();
  table.set_billing_mode(request.billing_mode());
  *table.mutable_provisioned_throughput() = request.provisioned_throughput();
  table.set_stream_view_type(request.stream_view_type());
  table.set_item_count(9);
  table.set_table_size_bytes(1'000);
  return table;
}

class FakeDaemon::Services {
 public:
  explicit Services(const FakeDaemon* fake)
      : data(fake),
        tables(fake),
        backups(fake),
        exports(fake),
        imports(fake),
        bulk_puts(fake),
        changes(fake),
        admin(fake) {}

  using Context = grpc::ServerContext;

  struct Data : v1::Data::Service {
    explicit Data(const FakeDaemon* fake) : fake(fake) {}
    grpc::Status PutItem(Context*, const v1::PutItemRequest* q, v1::PutItemReply* r) override {
      return Answer(fake->put_item, q, r);
    }
    grpc::Status GetItem(Context*, const v1::GetItemRequest* q, v1::GetItemReply* r) override {
      return Answer(fake->get_item, q, r);
    }
    grpc::Status UpdateItem(Context*, const v1::UpdateItemRequest* q, v1::UpdateItemReply* r) override {
      return Answer(fake->update_item, q, r);
    }
    grpc::Status DeleteItem(Context*, const v1::DeleteItemRequest* q, v1::DeleteItemReply* r) override {
      return Answer(fake->delete_item, q, r);
    }
    grpc::Status BatchWriteItem(Context*, const v1::BatchWriteItemRequest* q,
                                v1::BatchWriteItemReply* r) override {
      return Answer(fake->batch_write_item, q, r);
    }
    grpc::Status TransactWriteItems(Context*, const v1::TransactWriteItemsRequest* q,
                                    v1::TransactWriteItemsReply* r) override {
      return Answer(fake->transact_write_items, q, r);
    }
    grpc::Status BatchGetItem(Context*, const v1::BatchGetItemRequest* q, v1::BatchGetItemReply* r) override {
      return Answer(fake->batch_get_item, q, r);
    }
    grpc::Status TransactGetItems(Context*, const v1::TransactGetItemsRequest* q,
                                  v1::TransactGetItemsReply* r) override {
      return Answer(fake->transact_get_items, q, r);
    }
    grpc::Status Query(Context*, const v1::QueryRequest* q, v1::QueryReply* r) override {
      return Answer(fake->query, q, r);
    }
    grpc::Status Scan(Context*, const v1::ScanRequest* q, v1::ScanReply* r) override {
      return Answer(fake->scan, q, r);
    }
    grpc::Status ExecuteStatement(Context*, const v1::ExecuteStatementRequest* q,
                                  v1::ExecuteStatementReply* r) override {
      return Answer(fake->execute_statement, q, r);
    }
    grpc::Status BatchExecuteStatement(Context*, const v1::BatchExecuteStatementRequest* q,
                                       v1::BatchExecuteStatementReply* r) override {
      return Answer(fake->batch_execute_statement, q, r);
    }
    grpc::Status ExecuteTransaction(Context*, const v1::ExecuteTransactionRequest* q,
                                    v1::ExecuteTransactionReply* r) override {
      return Answer(fake->execute_transaction, q, r);
    }
    grpc::Status SearchVectors(Context*, const v1::SearchVectorsRequest* q,
                               v1::SearchVectorsReply* r) override {
      return Answer(fake->search_vectors, q, r);
    }
    const FakeDaemon* fake;
  };

  struct Tables : v1::Tables::Service {
    explicit Tables(const FakeDaemon* fake) : fake(fake) {}
    grpc::Status UpdateTable(Context*, const v1::UpdateTableRequest* q, v1::UpdateTableReply* r) override {
      return Answer(fake->update_table, q, r);
    }
    grpc::Status TagTable(Context*, const v1::TagTableRequest* q, v1::TagTableReply* r) override {
      return Answer(fake->tag_table, q, r);
    }
    grpc::Status UntagTable(Context*, const v1::UntagTableRequest* q, v1::UntagTableReply* r) override {
      return Answer(fake->untag_table, q, r);
    }
    grpc::Status UpdateTimeToLive(Context*, const v1::UpdateTimeToLiveRequest* q,
                                  v1::UpdateTimeToLiveReply* r) override {
      return Answer(fake->update_time_to_live, q, r);
    }
    grpc::Status DescribeTimeToLive(Context*, const v1::DescribeTimeToLiveRequest* q,
                                    v1::DescribeTimeToLiveReply* r) override {
      return Answer(fake->describe_time_to_live, q, r);
    }
    grpc::Status UpdateContributorInsights(Context*, const v1::UpdateContributorInsightsRequest* q,
                                           v1::UpdateContributorInsightsReply* r) override {
      return Answer(fake->update_contributor_insights, q, r);
    }
    grpc::Status DescribeContributorInsights(Context*, const v1::DescribeContributorInsightsRequest* q,
                                             v1::DescribeContributorInsightsReply* r) override {
      return Answer(fake->describe_contributor_insights, q, r);
    }
    grpc::Status ListContributorInsights(Context*, const v1::ListContributorInsightsRequest* q,
                                         v1::ListContributorInsightsReply* r) override {
      return Answer(fake->list_contributor_insights, q, r);
    }
    grpc::Status DescribeLimits(Context*, const v1::DescribeLimitsRequest* q,
                                v1::DescribeLimitsReply* r) override {
      return Answer(fake->describe_limits, q, r);
    }
    grpc::Status CreateTable(Context*, const v1::CreateTableRequest* q, v1::CreateTableReply* r) override {
      return Answer(fake->create_table, q, r);
    }
    grpc::Status DescribeTable(Context*, const v1::DescribeTableRequest* q,
                               v1::DescribeTableReply* r) override {
      return Answer(fake->describe_table, q, r);
    }
    grpc::Status ListTables(Context*, const v1::ListTablesRequest* q, v1::ListTablesReply* r) override {
      return Answer(fake->list_tables, q, r);
    }
    grpc::Status DeleteTable(Context*, const v1::DeleteTableRequest* q, v1::DeleteTableReply* r) override {
      return Answer(fake->delete_table, q, r);
    }
    const FakeDaemon* fake;
  };

  struct Changes : v1::Changes::Service {
    explicit Changes(const FakeDaemon* fake) : fake(fake) {}
    grpc::Status ReadChanges(Context*, const v1::ReadChangesRequest* q, v1::ReadChangesReply* r) override {
      return Answer(fake->read_changes, q, r);
    }
    grpc::Status HoldChanges(Context*, const v1::HoldChangesRequest* q, v1::HoldChangesReply* r) override {
      return Answer(fake->hold_changes, q, r);
    }
    grpc::Status ReleaseChanges(Context*, const v1::ReleaseChangesRequest* q,
                                v1::ReleaseChangesReply* r) override {
      return Answer(fake->release_changes, q, r);
    }
    grpc::Status UndoChanges(Context*, const v1::UndoChangesRequest* q, v1::UndoChangesReply* r) override {
      return Answer(fake->undo_changes, q, r);
    }
    const FakeDaemon* fake;
  };

  struct Backups : v1::Backups::Service {
    explicit Backups(const FakeDaemon* fake) : fake(fake) {}
    grpc::Status CreateBackup(Context*, const v1::CreateBackupRequest* q, v1::CreateBackupReply* r) override {
      return Answer(fake->create_backup, q, r);
    }
    grpc::Status DescribeBackup(Context*, const v1::DescribeBackupRequest* q,
                                v1::DescribeBackupReply* r) override {
      return Answer(fake->describe_backup, q, r);
    }
    grpc::Status ListBackups(Context*, const v1::ListBackupsRequest* q, v1::ListBackupsReply* r) override {
      return Answer(fake->list_backups, q, r);
    }
    grpc::Status DeleteBackup(Context*, const v1::DeleteBackupRequest* q, v1::DeleteBackupReply* r) override {
      return Answer(fake->delete_backup, q, r);
    }
    grpc::Status RestoreTableToPointInTime(Context*, const v1::RestoreTableToPointInTimeRequest* q,
                                           v1::RestoreTableToPointInTimeReply* r) override {
      return Answer(fake->restore_table_to_point_in_time, q, r);
    }
    grpc::Status RestoreTableFromBackup(Context*, const v1::RestoreTableFromBackupRequest* q,
                                        v1::RestoreTableFromBackupReply* r) override {
      return Answer(fake->restore_table_from_backup, q, r);
    }
    grpc::Status DescribeContinuousBackups(Context*, const v1::DescribeContinuousBackupsRequest* q,
                                           v1::DescribeContinuousBackupsReply* r) override {
      return Answer(fake->describe_continuous_backups, q, r);
    }
    grpc::Status UpdateContinuousBackups(Context*, const v1::UpdateContinuousBackupsRequest* q,
                                         v1::UpdateContinuousBackupsReply* r) override {
      return Answer(fake->update_continuous_backups, q, r);
    }
    const FakeDaemon* fake;
  };

  struct Exports : v1::Exports::Service {
    explicit Exports(const FakeDaemon* fake) : fake(fake) {}
    grpc::Status ExportTableToPointInTime(Context*, const v1::ExportTableToPointInTimeRequest* q,
                                          v1::ExportTableToPointInTimeReply* r) override {
      return Answer(fake->export_table_to_point_in_time, q, r);
    }
    grpc::Status DescribeExport(Context*, const v1::DescribeExportRequest* q,
                                v1::DescribeExportReply* r) override {
      return Answer(fake->describe_export, q, r);
    }
    grpc::Status ListExports(Context*, const v1::ListExportsRequest* q, v1::ListExportsReply* r) override {
      return Answer(fake->list_exports, q, r);
    }
    const FakeDaemon* fake;
  };

  struct Imports : v1::Imports::Service {
    explicit Imports(const FakeDaemon* fake) : fake(fake) {}
    grpc::Status ImportTable(Context*, const v1::ImportTableRequest* q, v1::ImportTableReply* r) override {
      return Answer(fake->import_table, q, r);
    }
    grpc::Status DescribeImport(Context*, const v1::DescribeImportRequest* q,
                                v1::DescribeImportReply* r) override {
      return Answer(fake->describe_import, q, r);
    }
    grpc::Status ListImports(Context*, const v1::ListImportsRequest* q, v1::ListImportsReply* r) override {
      return Answer(fake->list_imports, q, r);
    }
    const FakeDaemon* fake;
  };

  struct BulkPuts : v1::BulkPuts::Service {
    explicit BulkPuts(const FakeDaemon* fake) : fake(fake) {}
    grpc::Status StartBulkPutItems(Context*, const v1::StartBulkPutItemsRequest* q,
                                   v1::StartBulkPutItemsReply* r) override {
      return Answer(fake->start_bulk_put_items, q, r);
    }
    grpc::Status DescribeBulkOperation(Context*, const v1::DescribeBulkOperationRequest* q,
                                       v1::DescribeBulkOperationReply* r) override {
      return Answer(fake->describe_bulk_operation, q, r);
    }
    grpc::Status ListBulkOperations(Context*, const v1::ListBulkOperationsRequest* q,
                                    v1::ListBulkOperationsReply* r) override {
      return Answer(fake->list_bulk_operations, q, r);
    }
    grpc::Status CancelBulkOperation(Context*, const v1::CancelBulkOperationRequest* q,
                                     v1::CancelBulkOperationReply* r) override {
      return Answer(fake->cancel_bulk_operation, q, r);
    }
    const FakeDaemon* fake;
  };

  struct Admin : v1::Admin::Service {
    explicit Admin(const FakeDaemon* fake) : fake(fake) {}
    grpc::Status GetStatus(Context*, const v1::GetStatusRequest* q, v1::GetStatusReply* r) override {
      return Answer(fake->get_status, q, r);
    }
    grpc::Status CheckDatabase(Context*, const v1::CheckDatabaseRequest* q,
                               v1::CheckDatabaseReply* r) override {
      return Answer(fake->check_database, q, r);
    }
    grpc::Status GetAccessPatterns(Context*, const v1::GetAccessPatternsRequest* q,
                                   v1::GetAccessPatternsReply* r) override {
      return Answer(fake->get_access_patterns, q, r);
    }
    grpc::Status GetTopKeys(Context*, const v1::GetTopKeysRequest* q, v1::GetTopKeysReply* r) override {
      return Answer(fake->get_top_keys, q, r);
    }
    grpc::Status CreateDatabaseBackup(Context*, const v1::CreateDatabaseBackupRequest* q,
                                      v1::DatabaseBackup* r) override {
      return Answer(fake->create_database_backup, q, r);
    }
    grpc::Status ListDatabaseBackups(Context*, const v1::ListDatabaseBackupsRequest* q,
                                     v1::ListDatabaseBackupsReply* r) override {
      return Answer(fake->list_database_backups, q, r);
    }
    grpc::Status VerifyDatabaseBackup(Context*, const v1::VerifyDatabaseBackupRequest* q,
                                      v1::DatabaseBackup* r) override {
      return Answer(fake->verify_database_backup, q, r);
    }
    grpc::Status DeleteDatabaseBackups(Context*, const v1::DeleteDatabaseBackupsRequest* q,
                                       v1::DeleteDatabaseBackupsReply* r) override {
      return Answer(fake->delete_database_backups, q, r);
    }
    grpc::Status ListDamage(Context*, const v1::ListDamageRequest* q, v1::ListDamageReply* r) override {
      return Answer(fake->list_damage, q, r);
    }
    grpc::Status DiscardDamagedItem(Context*, const v1::DiscardDamagedItemRequest* q,
                                    v1::DiscardDamagedItemReply* r) override {
      return Answer(fake->discard_damaged_item, q, r);
    }
    grpc::Status Promote(Context*, const v1::PromoteRequest* q, v1::PromoteReply* r) override {
      return Answer(fake->promote, q, r);
    }
    const FakeDaemon* fake;
  };

  Data data;
  Tables tables;
  Backups backups;
  Exports exports;
  Imports imports;
  BulkPuts bulk_puts;
  Changes changes;
  Admin admin;
};

FakeDaemon::FakeDaemon(const std::string& address, std::shared_ptr<grpc::ServerCredentials> credentials)
    : services_(std::make_unique<Services>(this)) {
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(address, std::move(credentials), &port);
  builder.SetMaxReceiveMessageSize(17 << 20);
  builder.SetMaxSendMessageSize(-1);
  builder.RegisterService(&services_->data);
  builder.RegisterService(&services_->tables);
  builder.RegisterService(&services_->backups);
  builder.RegisterService(&services_->exports);
  builder.RegisterService(&services_->imports);
  builder.RegisterService(&services_->bulk_puts);
  builder.RegisterService(&services_->changes);
  builder.RegisterService(&services_->admin);
  server_ = builder.BuildAndStart();
  endpoint_ = address.starts_with("unix:") ? address : "127.0.0.1:" + std::to_string(port);
}

FakeDaemon::~FakeDaemon() { server_->Shutdown(); }

}  // namespace itemdb
