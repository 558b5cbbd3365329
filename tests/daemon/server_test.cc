// Every RPC, and the answers to malformed requests.
#include <gmock/gmock.h>

#include "daemon/process/version.h"
#include "tests/daemon/server_fixture.h"

namespace itemdb::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(ServerTest, CreatesDescribesListsAndDeletesTables) {
  ASSERT_TRUE(CreateTable("orders").ok());
  grpc::Status again = CreateTable("orders");
  EXPECT_EQ(again.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(DetailsOf(again).reason, "RESOURCE_IN_USE");

  v1::DescribeTableRequest describe;
  describe.set_table_name("orders");
  v1::DescribeTableReply description;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(tables_->DescribeTable(&context, describe, &description).ok());
    EXPECT_EQ(description.table().table_name(), "orders");
    EXPECT_EQ(description.table().table_status(), v1::TABLE_STATUS_ACTIVE);
  }
  {
    grpc::ClientContext context;
    v1::ListTablesReply names;
    ASSERT_TRUE(tables_->ListTables(&context, {}, &names).ok());
    EXPECT_THAT(names.table_names(), ElementsAre("orders"));
  }
  {
    grpc::ClientContext context;
    v1::DeleteTableRequest request;
    request.set_table_name("orders");
    v1::DeleteTableReply reply;
    ASSERT_TRUE(tables_->DeleteTable(&context, request, &reply).ok());
    EXPECT_EQ(reply.table().table_id(), description.table().table_id());
  }
  grpc::ClientContext context;
  grpc::Status gone = tables_->DescribeTable(&context, describe, &description);
  EXPECT_EQ(gone.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(DetailsOf(gone).reason, "RESOURCE_NOT_FOUND");
}

TEST_F(ServerTest, WritesAndReadsAnItem) {
  ASSERT_TRUE(CreateTable("orders").ok());
  v1::Item item = Key("customer", "order");
  AddString(&item, "status", "OPEN");
  ASSERT_TRUE(Put("orders", item).ok());

  v1::GetItemRequest get;
  get.set_table_name("orders");
  *get.mutable_key() = Key("customer", "order");
  v1::GetItemReply got;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(data_->GetItem(&context, get, &got).ok());
    ASSERT_TRUE(got.has_item());
    EXPECT_EQ(got.item().SerializeAsString(), item.SerializeAsString());
    EXPECT_GT(got.change_sequence(), 0u);
  }
  {
    grpc::ClientContext context;
    v1::UpdateItemRequest request;
    request.set_table_name("orders");
    *request.mutable_key() = get.key();
    request.set_update_expression("SET #s = :closed");
    (*request.mutable_expression_attribute_names())["#s"] = "status";
    (*request.mutable_expression_attribute_values())[":closed"].set_s("CLOSED");
    request.set_return_values(v1::RETURN_VALUES_UPDATED_NEW);
    v1::UpdateItemReply reply;
    ASSERT_TRUE(data_->UpdateItem(&context, request, &reply).ok());
    ASSERT_EQ(reply.result().attributes().attributes_size(), 1);
    EXPECT_EQ(reply.result().attributes().attributes(0).value().s(), "CLOSED");
  }
  {
    grpc::ClientContext context;
    v1::DeleteItemRequest request;
    request.set_table_name("orders");
    *request.mutable_key() = get.key();
    request.set_return_values(v1::RETURN_VALUES_ALL_OLD);
    v1::DeleteItemReply reply;
    ASSERT_TRUE(data_->DeleteItem(&context, request, &reply).ok());
    EXPECT_EQ(reply.result().attributes().attributes_size(), 3);
  }
  grpc::ClientContext context;
  ASSERT_TRUE(data_->GetItem(&context, get, &got).ok());
  EXPECT_FALSE(got.has_item());
}

// A false condition is an outcome with the item and not an error, because status details are too small for an
// item.
TEST_F(ServerTest, AnswersAFalseConditionWithTheItem) {
  ASSERT_TRUE(CreateTable("orders").ok());
  v1::Item item = Key("a", "b");
  ASSERT_TRUE(Put("orders", item).ok());
  v1::PutItemRequest request;
  request.set_table_name("orders");
  *request.mutable_item() = item;
  request.set_condition_expression("attribute_not_exists(pk)");
  request.set_return_values_on_condition_check_failure(v1::RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD);
  v1::PutItemReply reply;
  grpc::ClientContext context;
  ASSERT_TRUE(data_->PutItem(&context, request, &reply).ok());
  ASSERT_TRUE(reply.has_condition_failed());
  EXPECT_EQ(reply.condition_failed().item().SerializeAsString(), item.SerializeAsString());
}

// SELECT, INSERT and UPDATE (PQL-01..03), and the error for a duplicate item (ERR-13). The items of the reply
// are appended as storage encodes them.
TEST_F(ServerTest, ExecutesStatements) {
  ASSERT_TRUE(CreateTable("orders").ok());
  auto execute = [this](const std::string& statement, const std::string& parameter,
                        v1::ExecuteStatementReply* reply) {
    grpc::ClientContext context;
    v1::ExecuteStatementRequest request;
    request.set_statement(statement);
    request.add_parameters()->set_s(parameter);
    return data_->ExecuteStatement(&context, request, reply);
  };
  v1::ExecuteStatementReply reply;
  const std::string insert = "INSERT INTO \"orders\" VALUE {'pk': 'a', 'sk': ?}";
  ASSERT_TRUE(execute(insert, "1", &reply).ok());
  ASSERT_TRUE(execute(insert, "2", &reply).ok());
  EXPECT_EQ(reply.items_size(), 0);
  grpc::Status duplicate = execute(insert, "2", &reply);
  EXPECT_EQ(duplicate.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(DetailsOf(duplicate).reason, "DUPLICATE_ITEM");
  ASSERT_TRUE(execute("SELECT * FROM orders WHERE pk = ?", "a", &reply).ok());
  ASSERT_EQ(reply.items_size(), 2);
  EXPECT_EQ(reply.items(1).SerializeAsString(), Key("a", "2").SerializeAsString());
  EXPECT_GT(reply.change_sequence(), 0u);
  ASSERT_TRUE(execute("UPDATE orders SET n = 1 WHERE pk = 'a' AND sk = ?", "3", &reply).ok());
  EXPECT_TRUE(reply.has_condition_failed());

  grpc::ClientContext batch_context;
  v1::BatchExecuteStatementRequest batch;
  batch.add_statements()->set_statement("SELECT sk FROM orders WHERE pk = 'a' AND sk = '1'");
  batch.add_statements()->set_statement("SELECT sk FROM orders");
  v1::BatchExecuteStatementReply batch_reply;
  ASSERT_TRUE(data_->BatchExecuteStatement(&batch_context, batch, &batch_reply).ok());
  EXPECT_EQ(batch_reply.responses(0).item().attributes(0).value().s(), "1");
  EXPECT_EQ(batch_reply.responses(1).error().reason(), "VALIDATION");

  grpc::ClientContext transaction_context;
  v1::ExecuteTransactionRequest transaction;
  transaction.add_transact_statements()->set_statement("DELETE FROM orders WHERE pk = 'a' AND sk = '1'");
  transaction.add_transact_statements()->set_statement("INSERT INTO orders VALUE {'pk': 'a', 'sk': '2'}");
  v1::ExecuteTransactionReply transaction_reply;
  ASSERT_TRUE(data_->ExecuteTransaction(&transaction_context, transaction, &transaction_reply).ok());
  ASSERT_EQ(transaction_reply.cancelled().reasons_size(), 2);
  EXPECT_EQ(transaction_reply.cancelled().reasons(1).code(), v1::CANCELLATION_CODE_DUPLICATE_ITEM);
}

TEST_F(ServerTest, WritesBatchesAndTransactions) {
  ASSERT_TRUE(CreateTable("orders").ok());
  {
    grpc::ClientContext context;
    v1::BatchWriteItemRequest request;
    v1::TableWriteRequests* writes = request.add_request_items();
    writes->set_table_name("orders");
    *writes->add_write_requests()->mutable_put_request()->mutable_item() = Key("a", "1");
    *writes->add_write_requests()->mutable_put_request()->mutable_item() = Key("a", "2");
    v1::BatchWriteItemReply reply;
    ASSERT_TRUE(data_->BatchWriteItem(&context, request, &reply).ok());
    EXPECT_EQ(reply.unprocessed_items_size(), 0);
  }
  v1::TransactWriteItemsRequest request;
  v1::TransactPut* put = request.add_transact_items()->mutable_put();
  put->set_table_name("orders");
  *put->mutable_item() = Key("a", "3");
  v1::ConditionCheck* check = request.add_transact_items()->mutable_condition_check();
  check->set_table_name("orders");
  *check->mutable_key() = Key("a", "1");
  check->set_condition_expression("attribute_exists(pk)");
  v1::TransactWriteItemsReply reply;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(data_->TransactWriteItems(&context, request, &reply).ok());
    EXPECT_TRUE(reply.has_committed());
  }
  check->set_condition_expression("attribute_not_exists(pk)");
  grpc::ClientContext context;
  ASSERT_TRUE(data_->TransactWriteItems(&context, request, &reply).ok());
  ASSERT_TRUE(reply.has_cancelled());
  ASSERT_EQ(reply.cancelled().reasons_size(), 2);
  EXPECT_EQ(reply.cancelled().reasons(0).code(), v1::CANCELLATION_CODE_NONE);
  EXPECT_EQ(reply.cancelled().reasons(1).code(), v1::CANCELLATION_CODE_CONDITIONAL_CHECK_FAILED);
}

TEST_F(ServerTest, PagesThroughQueryAndScan) {
  ASSERT_TRUE(CreateTable("orders").ok());
  for (const char* sk : {"1", "2", "3"}) ASSERT_TRUE(Put("orders", Key("a", sk)).ok());
  v1::QueryRequest query;
  query.set_table_name("orders");
  query.set_key_condition_expression("pk = :pk");
  (*query.mutable_expression_attribute_values())[":pk"].set_s("a");
  query.set_limit(2);
  v1::QueryReply page;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(data_->Query(&context, query, &page).ok());
    ASSERT_EQ(page.items_size(), 2);
    EXPECT_EQ(page.items(1).SerializeAsString(), Key("a", "2").SerializeAsString());
    EXPECT_EQ(page.count(), 2);
    EXPECT_EQ(page.scanned_count(), 2);
    ASSERT_TRUE(page.has_last_evaluated_key());
  }
  {
    grpc::ClientContext context;
    *query.mutable_exclusive_start_key() = page.last_evaluated_key();
    ASSERT_TRUE(data_->Query(&context, query, &page).ok());
    ASSERT_EQ(page.items_size(), 1);
    EXPECT_FALSE(page.has_last_evaluated_key());
  }
  grpc::ClientContext context;
  v1::ScanRequest scan;
  scan.set_table_name("orders");
  v1::ScanReply all;
  ASSERT_TRUE(data_->Scan(&context, scan, &all).ok());
  EXPECT_EQ(all.items_size(), 3);
}

TEST_F(ServerTest, ShowsChangesStatusAndChecks) {
  ASSERT_TRUE(CreateTable("orders").ok());
  ASSERT_TRUE(Put("orders", Key("a", "1")).ok());
  uint64_t last = 0;
  {
    grpc::ClientContext context;
    v1::ReadChangesReply reply;
    ASSERT_TRUE(changes_->ReadChanges(&context, {}, &reply).ok());
    ASSERT_EQ(reply.records_size(), 2);
    EXPECT_EQ(reply.records(0).kind(), v1::CHANGE_KIND_CREATE_TABLE);
    EXPECT_EQ(reply.records(1).kind(), v1::CHANGE_KIND_INSERT);
    last = reply.records(1).change_sequence();
  }
  {
    grpc::ClientContext context;
    v1::GetStatusReply reply;
    ASSERT_TRUE(admin_->GetStatus(&context, {}, &reply).ok());
    EXPECT_EQ(reply.version(), std::string(Version()));
    EXPECT_EQ(reply.change_sequence(), last);
    EXPECT_EQ(reply.table_count(), 1);
  }
  grpc::ClientContext context;
  v1::CheckDatabaseReply reply;
  ASSERT_TRUE(admin_->CheckDatabase(&context, {}, &reply).ok());
  EXPECT_EQ(reply.items_checked(), 1);
  EXPECT_EQ(reply.finding_count(), 0);
}

TEST_F(ServerTest, TopKeysNeedContributorInsights) {  // OP-56.
  ASSERT_TRUE(CreateTable("orders").ok());
  v1::GetTopKeysRequest request;
  request.set_table_name("orders");
  v1::GetTopKeysReply reply;
  grpc::ClientContext off;
  ASSERT_TRUE(admin_->GetTopKeys(&off, request, &reply).ok());
  EXPECT_EQ(reply.start_time_us(), 0);
  request.set_table_name("nothing");
  grpc::ClientContext missing;
  EXPECT_EQ(admin_->GetTopKeys(&missing, request, &reply).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(ServerTest, ContributorInsightsAreTurnedOnAndOff) {  // OP-56 to OP-58.
  ASSERT_TRUE(CreateTable("orders").ok());
  ASSERT_TRUE(CreateTable("other").ok());
  const auto update = [this](v1::ContributorInsightsAction action) {
    v1::UpdateContributorInsightsRequest request;
    request.set_table_name("orders");
    request.set_contributor_insights_action(action);
    grpc::ClientContext context;
    v1::UpdateContributorInsightsReply reply;
    const grpc::Status status = tables_->UpdateContributorInsights(&context, request, &reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return reply;
  };
  const auto status = [this] {
    v1::DescribeContributorInsightsRequest request;
    request.set_table_name("orders");
    grpc::ClientContext context;
    v1::DescribeContributorInsightsReply reply;
    EXPECT_TRUE(tables_->DescribeContributorInsights(&context, request, &reply).ok());
    return reply.contributor_insights().contributor_insights_status();
  };
  const auto listed = [this] {
    grpc::ClientContext context;
    v1::ListContributorInsightsReply reply;
    EXPECT_TRUE(tables_->ListContributorInsights(&context, {}, &reply).ok());
    std::vector<std::string> names;
    for (const auto& one : reply.contributor_insights_summaries()) names.push_back(one.table_name());
    return names;
  };
  EXPECT_EQ(status(), v1::CONTRIBUTOR_INSIGHTS_STATUS_DISABLED);
  const v1::UpdateContributorInsightsReply on = update(v1::CONTRIBUTOR_INSIGHTS_ACTION_ENABLE);
  EXPECT_GT(on.change_sequence(), 0u);
  EXPECT_EQ(on.contributor_insights().contributor_insights_status(), v1::CONTRIBUTOR_INSIGHTS_STATUS_ENABLED);
  EXPECT_EQ(status(), v1::CONTRIBUTOR_INSIGHTS_STATUS_ENABLED);
  EXPECT_EQ(listed(), std::vector<std::string>{"orders"});
  ASSERT_TRUE(Put("orders", Key("a", "1")).ok());
  v1::GetTopKeysRequest request;
  request.set_table_name("orders");
  v1::GetTopKeysReply keys;
  grpc::ClientContext context;
  ASSERT_TRUE(admin_->GetTopKeys(&context, request, &keys).ok());
  EXPECT_EQ(keys.keys_size(), 1);
  update(v1::CONTRIBUTOR_INSIGHTS_ACTION_DISABLE);
  EXPECT_EQ(status(), v1::CONTRIBUTOR_INSIGHTS_STATUS_DISABLED);
  EXPECT_TRUE(listed().empty());
}

TEST_F(ServerTest, ShowsAccessPatterns) {  // GetAccessPatterns (SEED-049).
  ASSERT_TRUE(CreateTable("orders").ok());
  ASSERT_TRUE(Put("orders", Key("a", "1")).ok());
  v1::GetAccessPatternsRequest request;
  request.set_table_name("orders");
  {
    grpc::ClientContext context;
    v1::GetAccessPatternsReply reply;
    ASSERT_TRUE(admin_->GetAccessPatterns(&context, request, &reply).ok());
    ASSERT_EQ(reply.patterns_size(), 1);
    EXPECT_EQ(reply.patterns(0).table_name(), "orders");
    EXPECT_EQ(reply.patterns(0).operation(), "PutItem");
    EXPECT_EQ(reply.patterns(0).calls(), 1);
    EXPECT_GT(reply.start_time_us(), 0);
  }
  request.set_table_name("nothing");
  grpc::ClientContext context;
  v1::GetAccessPatternsReply reply;
  const grpc::Status missing = admin_->GetAccessPatterns(&context, request, &reply);
  EXPECT_EQ(missing.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(DetailsOf(missing).reason, "RESOURCE_NOT_FOUND");
}

// Calls every method, because one could be registered with a parser that answers INTERNAL.
TEST_F(ServerTest, AnswersBytesThatAreNoRequestWithInvalidArgument) {
  const char* methods[] = {"Data/PutItem",
                           "Data/GetItem",
                           "Data/UpdateItem",
                           "Data/DeleteItem",
                           "Data/BatchWriteItem",
                           "Data/TransactWriteItems",
                           "Data/Query",
                           "Data/Scan",
                           "Data/SearchVectors",
                           "Tables/CreateTable",
                           "Tables/DescribeTable",
                           "Tables/ListTables",
                           "Tables/DeleteTable",
                           "Tables/UpdateContributorInsights",
                           "Tables/DescribeContributorInsights",
                           "Tables/ListContributorInsights",
                           "Backups/CreateBackup",
                           "Backups/DescribeBackup",
                           "Backups/ListBackups",
                           "Backups/DeleteBackup",
                           "Backups/RestoreTableFromBackup",
                           "Backups/RestoreTableToPointInTime",
                           "Backups/DescribeContinuousBackups",
                           "Backups/UpdateContinuousBackups",
                           "Exports/ExportTableToPointInTime",
                           "Exports/DescribeExport",
                           "Exports/ListExports",
                           "Imports/ImportTable",
                           "Imports/DescribeImport",
                           "Imports/ListImports",
                           "BulkPuts/StartBulkPutItems",
                           "BulkPuts/DescribeBulkOperation",
                           "BulkPuts/ListBulkOperations",
                           "BulkPuts/CancelBulkOperation",
                           "Changes/ReadChanges",
                           "Changes/HoldChanges",
                           "Changes/ReleaseChanges",
                           "Changes/UndoChanges",
                           "Admin/GetStatus",
                           "Admin/CheckDatabase",
                           "Admin/GetAccessPatterns",
                           "Admin/GetTopKeys",
                           "Replication/ListReplicationFiles",
                           "Replication/ReadReplicationFile",
                           "Replication/FencePrimary",
                           "Data/ExecuteStatement",
                           "Data/BatchExecuteStatement",
                           "Data/ExecuteTransaction"};
  for (const char* method : methods) {
    SCOPED_TRACE(method);
    grpc::Status status = CallRaw(std::string("/itemdb.v1.") + method, std::string("\xff\xff\xff", 3));
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
    EXPECT_THAT(status.error_message(), HasSubstr(method));
    EXPECT_EQ(DetailsOf(status).reason, "VALIDATION");
  }
}

TEST_F(ServerTest, AnswersUnknownMethodsWithUnimplemented) {
  EXPECT_EQ(CallRaw("/itemdb.v1.Data/DropEverything", "").error_code(), grpc::StatusCode::UNIMPLEMENTED);
}

TEST_F(ServerTest, NamesTheTableThatDoesNotExist) {
  grpc::Status status = Put("missing", Key("a", "b"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(status.error_message(), HasSubstr("missing"));
}

// A request has at most 16 MiB (SEM-018); the message with its framing may be a little longer.
TEST_F(ServerTest, RefusesMessagesBeyondTheLimitAndStaysUp) {
  std::string name(storage::kMaxMessageBytes, 'x');
  grpc::Status status = CallRaw("/itemdb.v1.Data/PutItem", name);
  EXPECT_NE(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << "exactly the limit is taken";
  status = CallRaw("/itemdb.v1.Data/PutItem", name + "x");
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(CreateTable("orders").ok());
}

// An error message quotes the bad name, here of 60 KiB; more than 8 KiB of headers would end the call.
TEST_F(ServerTest, SendsErrorsThatQuoteLongNames) {
  grpc::Status status = Put(std::string(60'000, 'n'), Key("a", "b"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
  EXPECT_EQ(DetailsOf(status).reason, "VALIDATION");
}

}  // namespace
}  // namespace itemdb::daemon
