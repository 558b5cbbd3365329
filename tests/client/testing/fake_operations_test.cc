// Every operation beyond those on single items, through a client to the real storage of the fake database.
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "itemdb/client.h"
#include "itemdb/testing/fake_database.h"

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using namespace itemdb;  // NOLINT: as a user's test would.
using itemdb::testing::FakeDatabase;

constexpr int kItems = 130;

Item KeyOf(int number) { return {{"id", std::to_string(number)}}; }

class FakeOperationsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    TableDefinition definition{
        .table_name = "Product",
        .attribute_definitions = {{"id", ScalarAttributeType::kString},
                                  {"kind", ScalarAttributeType::kString}},
        .key_schema = {{"id", KeyType::kHash}},
        .global_secondary_indexes = {{.index_name = "ByKind", .key_schema = {{"kind", KeyType::kHash}}}}};
    definition.tags = {{"team", "blue"}};
    ASSERT_TRUE(client_.CreateTable(definition).ok());
    BatchWriteItemRequest request;
    for (int i = 0; i < kItems; ++i) {
      Item item = KeyOf(i);
      item.Set("kind", i % 2 == 0 ? "even" : "odd");
      item.Set("text", std::string(100'000, 'x'));
      request.writes.push_back(BatchPut{.table_name = "Product", .item = std::move(item)});
    }
    request.return_consumed_capacity = ReturnConsumedCapacity::kTotal;
    const absl::StatusOr<BatchWriteItemResult> written = client_.BatchWriteItem(request);
    ASSERT_TRUE(written.ok()) << written.status();
    // An item needs 98 write units of 1 KiB, for the table and for the index (SEM-063).
    ASSERT_THAT(written->consumed_capacity, SizeIs(1));
    EXPECT_EQ(written->consumed_capacity[0].capacity_units, 2 * 98 * kItems);
  }

  std::unique_ptr<FakeDatabase> database_ = *FakeDatabase::Open();
  Client client_ = database_->NewClient();
};

// The client requests unprocessed keys again (SEM-043): 13 MB arrive in replies of 3 MiB. 10 of 140 keys have
// no item.
TEST_F(FakeOperationsTest, BatchesOfGetsBringEverythingAndSayWhatIsMissing) {
  KeysAndAttributes table{.table_name = "Product"};
  for (int i = kItems + 9; i >= 0; --i) table.keys.push_back(KeyOf(i));
  absl::StatusOr<BatchGetItemResult> got = client_.BatchGetItem(
      {.request_items = {table}, .return_consumed_capacity = ReturnConsumedCapacity::kTotal});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_GT(database_->calls("BatchGetItem"), 4);
  ASSERT_EQ(got->tables[0].items.size(), table.keys.size());
  for (size_t i = 0; i < table.keys.size(); ++i) {
    const std::optional<Item>& item = got->tables[0].items[i];
    EXPECT_EQ(item.has_value(), i >= 10) << i;
    if (item.has_value()) {
      EXPECT_EQ(*item->find_or_null("id"), *table.keys[i].find_or_null("id"));
    }
  }
  // Half of 25 units of 4 KiB for each item, and half a unit for each missing item (SEM-062).
  EXPECT_EQ(got->consumed_capacity[0].capacity_units, 12.5 * kItems + 0.5 * 10);

  table.projection_expression = "#k.x, kind";
  table.expression_attribute_names = {{"#k", "kind"}};
  EXPECT_EQ(client_.BatchGetItem({.request_items = {table}}).status().code(),
            absl::StatusCode::kInvalidArgument)
      << "overlapping paths are the daemon's to refuse";
  table.projection_expression = "kind";
  table.expression_attribute_names.clear();
  got = client_.BatchGetItem({.request_items = {table}});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_FALSE(got->tables[0].items[9].has_value());
  EXPECT_EQ(*got->tables[0].items[10], (Item{{"kind", "odd"}})) << "the key is read, and not shown";
}

// TransactGetItems answers in request order (SEM-056).
TEST_F(FakeOperationsTest, TransactGetAnswersInOrderOfTheRequest) {
  const absl::StatusOr<TransactGetItemsResult> got = client_.TransactGetItems(
      {.gets = {{.table_name = "Product", .key = KeyOf(3), .projection_expression = "kind"},
                {.table_name = "Product", .key = KeyOf(999)},
                {.table_name = "Product", .key = KeyOf(2), .projection_expression = "id"}},
       .return_consumed_capacity = ReturnConsumedCapacity::kTotal});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(got->items, ElementsAre(Item{{"kind", "odd"}}, std::nullopt, Item{{"id", "2"}}));
  // Twice 25 units of 4 KiB for an item, two units for a missing item (SEM-062).
  EXPECT_EQ(got->consumed_capacity[0].capacity_units, 2 * 25 * 2 + 2);
}

// One call counts 13 MB, which are 13 pages (Select COUNT, SEM-036), and returns the consumed capacity
// (SEM-061).
TEST_F(FakeOperationsTest, OneCallCountsAWholeRange) {
  const absl::StatusOr<ItemPage> page = client_.Scan({.table_name = "Product"});
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_TRUE(page->last_evaluated_key.has_value());
  absl::StatusOr<ItemPage> counted =
      client_.Scan({.table_name = "Product", .select = Select::kCount, .count_all = true});
  ASSERT_TRUE(counted.ok()) << counted.status();
  EXPECT_EQ(counted->count, kItems);
  EXPECT_TRUE(counted->items.empty());
  EXPECT_FALSE(counted->last_evaluated_key.has_value());
  counted = client_.Query({.table_name = "Product",
                           .index_name = "ByKind",
                           .key_condition_expression = "kind = :k",
                           .filter_expression = "id > :five",
                           .expression_attribute_values = {{":k", "odd"}, {":five", "5"}},
                           .select = Select::kCount,
                           .count_all = true,
                           .return_consumed_capacity = ReturnConsumedCapacity::kIndexes});
  ASSERT_TRUE(counted.ok()) << counted.status();
  EXPECT_EQ(counted->count, 27) << "7, 9, 51, 53, 55, 57, 59, 61, ..., 99, without 5 itself";
  EXPECT_EQ(counted->scanned_count, kItems / 2);
  ASSERT_TRUE(counted->consumed_capacity.has_value());
  EXPECT_EQ(counted->consumed_capacity->global_secondary_indexes.at("ByKind"),
            counted->consumed_capacity->capacity_units);
  EXPECT_EQ(client_.Scan({.table_name = "Product", .count_all = true}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

// The segments of a parallel scan (SEM-033).
TEST_F(FakeOperationsTest, SegmentsAreDisjointAndTogetherComplete) {
  std::multiset<std::string> seen;
  for (int segment = 0; segment < 3; ++segment) {
    ItemRange range = client_.ScanAll(
        {.table_name = "Product", .projection_expression = "id", .segment = segment, .total_segments = 3});
    for (const Item& item : range) seen.insert(*item.find_or_null("id")->string_or_null());
    EXPECT_TRUE(range.status().ok()) << range.status();
  }
  EXPECT_EQ(seen.size(), static_cast<size_t>(kItems));
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), static_cast<size_t>(kItems));
}

// UpdateTable (SEM-095, OP-05), DescribeLimits (OP-06), tags (OP-08, OP-09).
TEST_F(FakeOperationsTest, TablesAreUpdatedTaggedAndProtected) {
  absl::StatusOr<TableResult> table = client_.UpdateTable({.table_name = "Product",
                                                           .deletion_protection_enabled = true,
                                                           .stream_view_type = StreamViewType::kOldImage});
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_TRUE(table->table.definition.deletion_protection_enabled);
  EXPECT_EQ(table->table.definition.stream_view_type, StreamViewType::kOldImage);
  EXPECT_THAT(std::string(client_.DeleteTable("Product").status().message()),
              HasSubstr("protected against deletion"));
  ASSERT_TRUE(client_.TagTable({.table_name = "Product", .tags = {{"env", "test"}, {"team", "red"}}}).ok());
  ASSERT_TRUE(client_.UntagTable({.table_name = "Product", .tag_keys = {"env", "none"}}).ok());
  table = client_.UpdateTable({.table_name = "Product",
                               .billing_mode = BillingMode::kProvisioned,
                               .provisioned_throughput = ProvisionedThroughput{5, 6},
                               .global_secondary_index_throughputs = {{"ByKind", {7, 8}}}});
  ASSERT_TRUE(table.ok()) << table.status();
  ASSERT_TRUE(client_.UpdateTable({.table_name = "Product", .deletion_protection_enabled = false}).ok());
  EXPECT_EQ(table->table.definition.tags, (std::map<std::string, std::string>{{"team", "red"}}));
  EXPECT_EQ(table->table.indexes[0].definition.provisioned_throughput, (ProvisionedThroughput{7, 8}));
  EXPECT_EQ(client_.UpdateTable({.table_name = "Product"}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(client_.DeleteTable("Product").ok());
  const absl::StatusOr<TableLimits> limits = client_.DescribeLimits();
  ASSERT_TRUE(limits.ok()) << limits.status();
  EXPECT_EQ(limits->account_max_read_capacity_units, 80'000);
  EXPECT_EQ(limits->table_max_write_capacity_units, 40'000);
}

// Time to live (SEM-108, OP-11, OP-12) and the change record of an expired item (SEM-102).
TEST_F(FakeOperationsTest, ItemsExpire) {
  ASSERT_TRUE(
      client_.UpdateTimeToLive({.table_name = "Product", .enabled = true, .attribute_name = "expires"}).ok());
  ASSERT_TRUE(client_
                  .PutItem({.table_name = "Product",
                            .item = {{"id", "gone"}, {"expires", absl::ToUnixSeconds(absl::Now()) - 1}}})
                  .ok());
  absl::StatusOr<TimeToLiveResult> described = client_.DescribeTimeToLive("Product");
  for (int look = 0; look < 10'000; ++look) {
    ASSERT_TRUE(described.ok()) << described.status();
    if (described->items_expired > 0) break;
    absl::SleepFor(absl::Milliseconds(10));
    described = client_.DescribeTimeToLive("Product");
  }
  EXPECT_EQ(described->status, TimeToLiveStatus::kEnabled);
  EXPECT_EQ(described->items_expired, 1);
  const absl::StatusOr<ReadChangesResult> changes =
      client_.ReadChanges({.after_sequence = described->change_sequence - 1});
  ASSERT_TRUE(changes.ok()) << changes.status();
  ASSERT_FALSE(changes->records.empty());
  EXPECT_EQ(changes->records[0].kind, ChangeKind::kRemove);
  EXPECT_TRUE(changes->records[0].expired);
}

// An index of a table with items is created, checked and deleted (SEM-095..097).
TEST_F(FakeOperationsTest, IndexesComeAndGoOnALiveTable) {
  ASSERT_TRUE(client_.PutItem({.table_name = "Product", .item = {{"id", "a"}, {"colour", "red"}}}).ok());
  ASSERT_TRUE(client_.PutItem({.table_name = "Product", .item = {{"id", "b"}, {"colour", 5}}}).ok());
  ASSERT_TRUE(client_
                  .UpdateTable({.table_name = "Product",
                                .create_global_secondary_index =
                                    GlobalSecondaryIndex{.index_name = "ByColour",
                                                         .key_schema = {{.attribute_name = "colour",
                                                                         .key_type = KeyType::kHash}}},
                                .attribute_definitions = {{"colour", ScalarAttributeType::kString}}})
                  .ok());
  absl::StatusOr<TableResult> table = client_.DescribeTable("Product");
  for (int look = 0; look < 10'000; ++look) {
    ASSERT_TRUE(table.ok()) << table.status();
    ASSERT_EQ(table->table.indexes.size(), 2u);
    if (table->table.indexes[1].index_status != TableStatus::kCreating) break;
    absl::SleepFor(absl::Milliseconds(10));
    table = client_.DescribeTable("Product");
  }
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->table.indexes[1].index_status, TableStatus::kActive);
  EXPECT_EQ(table->table.indexes[1].item_count, 1);
  EXPECT_EQ(table->table.indexes[1].skipped_items, 1);
  const absl::StatusOr<CheckDatabaseResult> check =
      client_.CheckAndRepair({.table_name = "Product", .index_name = "ByColour", .repair = true});
  ASSERT_TRUE(check.ok()) << check.status();
  EXPECT_EQ(check->index_entries_checked, 1);
  EXPECT_EQ(check->finding_count, 0);
  EXPECT_EQ(check->skipped_items, 1);
  table = client_.UpdateTable({.table_name = "Product", .delete_global_secondary_index = "ByColour"});
  ASSERT_TRUE(table.ok()) << table.status();
  table = client_.DescribeTable("Product");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->table.indexes.size(), 1u);
}

}  // namespace
