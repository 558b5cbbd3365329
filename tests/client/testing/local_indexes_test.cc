// Local secondary indexes (SEM-091) from a client to the real storage of the fake database: definition, reads
// that fetch items from the table, their capacity and read plan, and the sizes of item collections (SEM-066).
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "itemdb/client.h"
#include "itemdb/testing/fake_database.h"

namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using namespace itemdb;  // NOLINT: as a user's test would.
using itemdb::testing::FakeDatabase;

TEST(LocalIndexes, WorkFromTheClientToTheStorage) {
  std::unique_ptr<FakeDatabase> database = *FakeDatabase::Open();
  Client client = database->NewClient();
  const TableDefinition definition{
      .table_name = "Thread",
      .attribute_definitions = {{"forum", ScalarAttributeType::kString},
                                {"subject", ScalarAttributeType::kString},
                                {"posted", ScalarAttributeType::kNumber}},
      .key_schema = {{"forum", KeyType::kHash}, {"subject", KeyType::kRange}},
      .local_secondary_indexes = {{.index_name = "ByTime",
                                   .key_schema = {{"forum", KeyType::kHash}, {"posted", KeyType::kRange}},
                                   .projection = {.projection_type = ProjectionType::kKeysOnly}}},
      .table_class = TableClass::kStandardInfrequentAccess};
  ASSERT_TRUE(client.CreateTable(definition).ok());
  double gb = 0;
  for (int i = 0; i < 3; ++i) {
    const absl::StatusOr<WriteResult> put =
        client.PutItem({.table_name = "Thread",
                        .item = {{"forum", "S3"},
                                 {"subject", std::string(1, static_cast<char>('c' - i))},
                                 {"posted", i},
                                 {"replies", i * 10}},
                        .return_item_collection_metrics = ReturnItemCollectionMetrics::kSize});
    ASSERT_TRUE(put.ok()) << put.status();
    ASSERT_TRUE(put->item_collection_metrics.has_value());
    EXPECT_EQ(put->item_collection_metrics->item_collection_key, (Item{{"forum", "S3"}}));
    EXPECT_GT(put->item_collection_metrics->size_lower_bound_gb, gb);
    EXPECT_EQ(put->item_collection_metrics->size_lower_bound_gb,
              put->item_collection_metrics->size_upper_bound_gb);
    gb = put->item_collection_metrics->size_lower_bound_gb;
  }

  const absl::StatusOr<ItemPage> page =
      client.Query({.table_name = "Thread",
                    .index_name = "ByTime",
                    .key_condition_expression = "forum = :f AND posted > :p",
                    .filter_expression = "replies < :r",
                    .expression_attribute_values = {{":f", "S3"}, {":p", 0}, {":r", 15}},
                    .scan_index_forward = false,
                    .select = Select::kAllAttributes,
                    .consistent_read = true,
                    .return_consumed_capacity = ReturnConsumedCapacity::kIndexes,
                    .explain = true});
  ASSERT_TRUE(page.ok()) << page.status();
  ASSERT_THAT(page->items, SizeIs(1));
  EXPECT_EQ(page->items[0], (Item{{"forum", "S3"}, {"subject", "b"}, {"posted", 1}, {"replies", 10}}));
  EXPECT_EQ(page->scanned_count, 2);
  EXPECT_EQ(page->consumed_capacity->local_secondary_indexes.at("ByTime"), 1);
  EXPECT_EQ(page->consumed_capacity->table_units, 2);
  EXPECT_EQ(page->plan->index_name, "ByTime");
  EXPECT_EQ(page->plan->key_range, "forum = \"S3\" AND posted > 0");
  EXPECT_FALSE(page->plan->forward);
  EXPECT_EQ(page->plan->base_items_read, 2);

  const absl::StatusOr<TableResult> described = client.DescribeTable("Thread");
  ASSERT_TRUE(described.ok()) << described.status();
  EXPECT_EQ(DescribeDifference(described->table.definition, definition), "");
  EXPECT_EQ(described->table.definition.table_class, TableClass::kStandardInfrequentAccess);
  ASSERT_THAT(described->table.local_indexes, SizeIs(1));
  EXPECT_EQ(described->table.local_indexes[0].item_count, 3);

  TableDefinition wrong = definition;
  wrong.table_name = "Other";
  wrong.local_secondary_indexes[0].key_schema[0].attribute_name = "subject";
  const absl::Status refused = client.CreateTable(wrong).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("same leading hash key as table KeySchema"));
}

}  // namespace
