// The operations on tables without blocking: futures and callbacks.
#include <future>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "itemdb/testing/fake_database.h"

namespace {

using namespace itemdb;  // NOLINT: as a user's test would.
using itemdb::testing::FakeDatabase;
using itemdb::testing::Fault;

TableDefinition TableOf(const std::string& name) {
  return {.table_name = name,
          .attribute_definitions = {{"id", ScalarAttributeType::kString}},
          .key_schema = {{"id", KeyType::kHash}}};
}

class AsyncTablesTest : public ::testing::Test {
 protected:
  // The result of an operation in its form with a callback. `start` gets the callback.
  template <typename Result, typename StartOperation>
  static absl::StatusOr<Result> FromCallback(StartOperation start) {
    std::promise<absl::StatusOr<Result>> promise;
    start([&](absl::StatusOr<Result> result) { promise.set_value(std::move(result)); });
    return promise.get_future().get();
  }

  std::unique_ptr<FakeDatabase> database_ = *FakeDatabase::Open();
  Client client_ = database_->NewClient();
};

TEST_F(AsyncTablesTest, EveryOperationHasAFuture) {
  EXPECT_EQ(client_.CreateTableAsync(TableOf("Product")).get()->table.definition.table_name, "Product");
  EXPECT_TRUE(client_.TagTableAsync({.table_name = "Product", .tags = {{"a", "1"}, {"b", "2"}}}).get().ok());
  EXPECT_TRUE(client_.UntagTableAsync({.table_name = "Product", .tag_keys = {"a"}}).get().ok());
  EXPECT_TRUE(
      client_.UpdateTimeToLiveAsync({.table_name = "Product", .enabled = true, .attribute_name = "until"})
          .get()
          .ok());
  EXPECT_EQ(client_.DescribeTimeToLiveAsync("Product").get()->attribute_name, "until");
  EXPECT_TRUE(client_.UpdateTableAsync({.table_name = "Product", .deletion_protection_enabled = true})
                  .get()
                  ->table.definition.deletion_protection_enabled);
  const absl::StatusOr<TableResult> described = client_.DescribeTableAsync("Product").get();
  ASSERT_TRUE(described.ok()) << described.status();
  EXPECT_EQ(described->table.definition.tags, (std::map<std::string, std::string>{{"b", "2"}}));
  EXPECT_EQ(client_.ListTablesAsync().get()->table_names, std::vector<std::string>{"Product"});
  EXPECT_EQ(client_.DeleteTableAsync("Product").get().status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(
      client_.UpdateTableAsync({.table_name = "Product", .deletion_protection_enabled = false}).get().ok());
  EXPECT_TRUE(client_.DeleteTableAsync("Product").get().ok());
  EXPECT_EQ(ReasonCodeOf(client_.DescribeTableAsync("Product").get().status()), Reason::kResourceNotFound);
}

TEST_F(AsyncTablesTest, EveryOperationTakesACallback) {
  EXPECT_TRUE(FromCallback<TableResult>([&](auto callback) {
                client_.CreateTableAsync(TableOf("Product"), std::move(callback));
              }).ok());
  EXPECT_TRUE(FromCallback<TagTableResult>([&](auto callback) {
                client_.TagTableAsync({.table_name = "Product", .tags = {{"a", "1"}}}, std::move(callback));
              }).ok());
  EXPECT_TRUE(FromCallback<TagTableResult>([&](auto callback) {
                client_.UntagTableAsync({.table_name = "Product", .tag_keys = {"a"}}, std::move(callback));
              }).ok());
  EXPECT_TRUE(FromCallback<UpdateTimeToLiveResult>([&](auto callback) {
                client_.UpdateTimeToLiveAsync(
                    {.table_name = "Product", .enabled = true, .attribute_name = "until"},
                    std::move(callback));
              }).ok());
  EXPECT_EQ(FromCallback<TimeToLiveResult>([&](auto callback) {
              client_.DescribeTimeToLiveAsync("Product", std::move(callback));
            })->attribute_name,
            "until");
  EXPECT_TRUE(FromCallback<TableResult>([&](auto callback) {
                client_.UpdateTableAsync({.table_name = "Product", .deletion_protection_enabled = false},
                                         std::move(callback));
              }).ok());
  EXPECT_TRUE(FromCallback<TableResult>([&](auto callback) {
                client_.DescribeTableAsync("Product", std::move(callback));
              })->table.definition.tags.empty());
  EXPECT_EQ(FromCallback<ListTablesResult>([&](auto callback) {
              client_.ListTablesAsync({.limit = 1}, std::move(callback), {.timeout = absl::Seconds(30)});
            })->table_names.size(),
            1u);
  EXPECT_TRUE(FromCallback<TableResult>([&](auto callback) {
                client_.DeleteTableAsync("Product", std::move(callback));
              }).ok());
}

// The name of a table need not outlive the call, and no call waits for the one before.
TEST_F(AsyncTablesTest, NoOperationBlocks) {
  ASSERT_TRUE(client_.CreateTable(TableOf("Product")).ok());
  const absl::Duration delay = absl::Seconds(1);
  database_->DelayCalls(delay);
  const absl::Time begin = absl::Now();
  std::vector<std::future<absl::StatusOr<TableResult>>> results;
  for (int i = 0; i < 20; ++i) {
    results.push_back(client_.CreateTableAsync(TableOf("Table" + std::to_string(i))));
    results.push_back(client_.DescribeTableAsync(std::string("Pro") + "duct"));
  }
  EXPECT_LT(absl::Now() - begin, delay);
  for (auto& result : results) EXPECT_TRUE(result.get().ok());
}

TEST_F(AsyncTablesTest, ABlockingOperationInACallbackIsRefusedAndAnotherIsNot) {
  std::promise<absl::Status> blocked;
  std::promise<absl::Status> listed;
  client_.CreateTableAsync(TableOf("Product"), [&](absl::StatusOr<TableResult> created) {
    ASSERT_TRUE(created.ok()) << created.status();
    blocked.set_value(client_.DescribeTable("Product").status());
    client_.ListTablesAsync(
        {}, [&](absl::StatusOr<ListTablesResult> tables) { listed.set_value(tables.status()); });
  });
  EXPECT_EQ(ReasonCodeOf(blocked.get_future().get()), Reason::kBlockingCallInCallback);
  EXPECT_TRUE(listed.get_future().get().ok());
}

// As other calls: a read is sent again, a write whose reply is lost is not.
TEST_F(AsyncTablesTest, FaultsAreThoseOfEveryCall) {
  database_->FailNext({.calls = 2, .fault = Fault::kLostReply, .operation = "ListTables"});
  EXPECT_TRUE(client_.ListTablesAsync().get().ok());
  EXPECT_EQ(database_->calls("ListTables"), 3);
  database_->FailNext({.calls = 1, .fault = Fault::kLostReply, .operation = "CreateTable"});
  EXPECT_EQ(ReasonOf(client_.CreateTableAsync(TableOf("Product")).get().status()),
            kReasonWriteOutcomeUnknown);
  EXPECT_EQ(database_->calls("CreateTable"), 1);
  CancelToken token;
  database_->DelayCalls(absl::Minutes(1));
  std::future<absl::StatusOr<TableResult>> cancelled =
      client_.DescribeTableAsync("Product", {.timeout = absl::Minutes(2), .cancel = token});
  token.Cancel();
  EXPECT_EQ(cancelled.get().status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
