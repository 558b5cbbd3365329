// The examples of client/README.md and of the public headers, unchanged, on the fake database.
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "itemdb/bulk_writer.h"
#include "itemdb/cancel_token.h"
#include "itemdb/client.h"
#include "itemdb/expression.h"
#include "itemdb/testing/fake_database.h"

namespace {

using itemdb::Attr;
using itemdb::Key;

void CreateShopTables(const itemdb::Client& client) {
  const absl::Status status =
      client
          .CreateTable({.table_name = "Product",
                        .attribute_definitions = {{"id", itemdb::ScalarAttributeType::kString}},
                        .key_schema = {{"id", itemdb::KeyType::kHash}}})
          .status();
  ASSERT_TRUE(status.ok()) << status;
}

absl::Status ReserveStock(const itemdb::Client& client, const std::string& id, int quantity) {
  return client
      .UpdateItem(Compose(itemdb::UpdateItemRequest{.table_name = "Product", .key = {{"id", id}}},
                          itemdb::Update().Set(Attr("stock"), Attr("stock") - quantity),
                          If(Attr("stock") >= quantity)))
      .status();
}

// The example of client/README.md.
TEST(WalkThrough, ReadmeOfTheClient) {
  std::unique_ptr<itemdb::testing::FakeDatabase> database = *itemdb::testing::FakeDatabase::Open();
  std::optional<itemdb::Client> client = database->NewClient();
  CreateShopTables(*client);
  EXPECT_TRUE(client->PutItem({.table_name = "Product", .item = {{"id", "hammer"}, {"stock", 5}}}).ok());
  EXPECT_TRUE(ReserveStock(*client, "hammer", 3).ok());
  EXPECT_EQ(itemdb::ReasonOf(ReserveStock(*client, "hammer", 3)), itemdb::kReasonConditionalCheckFailed);
  absl::StatusOr<itemdb::GetItemResult> got =
      client->GetItem({.table_name = "Product", .key = {{"id", "hammer"}}});
  ASSERT_TRUE(got.ok() && got->item.has_value());
  EXPECT_EQ(*got->item->find_or_null("stock"), itemdb::Value(2));

  std::future<absl::StatusOr<itemdb::WriteResult>> later =
      client->PutItemAsync({.table_name = "Product", .item = {{"id", "nail"}, {"stock", 1000}}});
  EXPECT_TRUE(later.get().ok());
  std::promise<int> count;
  client->QueryAsync(Compose(itemdb::QueryRequest{.table_name = "Product"}, Where(Key("id") == "nail")),
                     [&](absl::StatusOr<itemdb::ItemPage> page) { count.set_value(page->count); });
  EXPECT_EQ(count.get_future().get(), 1);

  absl::StatusOr<itemdb::BatchGetItemResult> some = client->BatchGetItem(
      {.request_items = {{.table_name = "Product", .keys = {{{"id", "hammer"}}, {{"id", "saw"}}}}}});
  ASSERT_TRUE(some.ok()) << some.status();
  EXPECT_TRUE(some->tables[0].items[0].has_value());
  EXPECT_FALSE(some->tables[0].items[1].has_value());
  absl::StatusOr<itemdb::ItemPage> counted =
      client->Scan({.table_name = "Product",
                    .select = itemdb::Select::kCount,
                    .count_all = true,
                    .return_consumed_capacity = itemdb::ReturnConsumedCapacity::kTotal});
  ASSERT_TRUE(counted.ok()) << counted.status();
  EXPECT_EQ(counted->count, 2);
  EXPECT_EQ(counted->consumed_capacity->capacity_units, 0.5);

  itemdb::CancelToken token;
  const itemdb::UpdateItemRequest add_one =
      Compose(itemdb::UpdateItemRequest{.table_name = "Product", .key = {{"id", "nail"}}},
              itemdb::Update().Add(Attr("stock"), 1));
  database->FailNext({.fault = itemdb::testing::Fault::kLostReply});
  EXPECT_TRUE(
      client->UpdateItem(add_one, {.timeout = absl::Seconds(20), .cancel = token, .idempotent = true}).ok());
  got = client->GetItem({.table_name = "Product", .key = {{"id", "nail"}}});
  EXPECT_EQ(*got->item->find_or_null("stock"), itemdb::Value(1001));

  std::vector<itemdb::BatchWrite> writes;
  for (int i = 0; i < 40; ++i) {
    writes.push_back(
        itemdb::BatchPut{.table_name = "Product", .item = {{"id", "item " + std::to_string(i)}}});
  }
  database->FailNext({.fault = itemdb::testing::Fault::kLostRequest, .operation = "BatchWriteItem"});
  absl::Status status = client->BatchWriteItem({.writes = writes}).status();
  std::vector<itemdb::BatchWriteOutcome> outcomes = itemdb::BatchWriteOutcomes(status);
  ASSERT_EQ(outcomes.size(), 40u);
  EXPECT_EQ(outcomes[0], itemdb::BatchWriteOutcome::kUnknown);
  EXPECT_EQ(outcomes[39], itemdb::BatchWriteOutcome::kNotApplied);

  const std::vector<itemdb::Item> items = {{{"id", "saw"}}, {{"id", "file"}}};
  itemdb::BulkWriter writer(*client);
  for (const itemdb::Item& item : items) EXPECT_TRUE(writer.Put("Product", item).ok());
  absl::StatusOr<itemdb::BulkWriteResult> result = writer.Finish();
  EXPECT_EQ(result->applied, 2u);
  int streamed = 0;
  for (const itemdb::Item& item : client->ScanStream({.table_name = "Product"})) streamed += !item.empty();
  EXPECT_GE(streamed, 2);
}

// The example of itemdb/testing/fake_database.h.
TEST(Shop, ReservesStockAfterTheDatabaseWasAway) {
  std::unique_ptr<itemdb::testing::FakeDatabase> database = *itemdb::testing::FakeDatabase::Open();
  itemdb::Client client = database->NewClient();
  CreateShopTables(client);
  ASSERT_TRUE(client.PutItem({.table_name = "Product", .item = {{"id", "prod_100"}, {"stock", 5}}}).ok());
  database->FailNext({.calls = 2, .fault = itemdb::testing::Fault::kUnavailable});
  EXPECT_TRUE(ReserveStock(client, "prod_100", 3).ok());
  EXPECT_EQ(database->calls("UpdateItem"), 3);
}

// The examples of itemdb/expression.h.
TEST(HeaderExamples, Expressions) {
  const itemdb::Item key{{"id", "x"}};
  using itemdb::Compose;
  using itemdb::QueryRequest;
  using itemdb::Update;
  using itemdb::UpdateItemRequest;
  UpdateItemRequest request = Compose(UpdateItemRequest{.table_name = "Product", .key = key},
                                      Update().Set(Attr("stock"), Attr("stock") - 3).Remove(Attr("note")),
                                      If(Attr("stock") >= 3 && !Attr("locked").Exists()));
  QueryRequest query = Compose(QueryRequest{.table_name = "Order"},
                               Where(Key("PK") == "ord_1" && Key("SK").BeginsWith("line#")),
                               Filter(Attr("total") > 100 || Attr("rep")["name"] == "Ann"),
                               itemdb::Project({Attr("SK"), Attr("total"), Attr("lines")[0]}));
  EXPECT_FALSE(request.update_expression.empty());
  EXPECT_FALSE(query.projection_expression.empty());
}

// The examples of itemdb/client.h and itemdb/cancel_token.h.
TEST(HeaderExamples, ThreeFormsOfAnOperationAndCancellation) {
  std::unique_ptr<itemdb::testing::FakeDatabase> database = *itemdb::testing::FakeDatabase::Open();
  itemdb::Client client = database->NewClient();
  CreateShopTables(client);
  using itemdb::CancelToken;
  using itemdb::WriteResult;
  const itemdb::PutItemRequest request{.table_name = "Product", .item = {{"id", "x"}}};
  absl::StatusOr<WriteResult> done = client.PutItem(request);                     // Blocks.
  std::future<absl::StatusOr<WriteResult>> later = client.PutItemAsync(request);  // Does not.
  std::promise<bool> called;
  client.PutItemAsync(request, [&](absl::StatusOr<WriteResult> result) { called.set_value(result.ok()); });
  EXPECT_TRUE(done.ok());
  EXPECT_TRUE(later.get().ok());
  EXPECT_TRUE(called.get_future().get());

  CancelToken token;
  std::promise<absl::StatusCode> code;
  const auto callback = [&](absl::StatusOr<itemdb::ItemPage> page) { code.set_value(page.status().code()); };
  database->DelayCalls(absl::Seconds(30));
  client.ScanAsync({.table_name = "Product"}, callback, {.cancel = token});
  token.Cancel();
  EXPECT_EQ(code.get_future().get(), absl::StatusCode::kCancelled);
}

}  // namespace
