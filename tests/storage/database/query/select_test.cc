// The content of a page (SEM-036), counts without pages, and consumed capacity (SEM-061 to SEM-065).

#include "tests/storage/database/requests.h"

namespace itemdb::testing {
namespace {

class Pages : public ::testing::Test {
 protected:
  Pages() {
    auto things = TableRequest("Things");
    AddIndex(&things, "All", {"a:S"}, 1, v1::PROJECTION_TYPE_ALL);
    AddIndex(&things, "Keys", {"a:S"}, 1, v1::PROJECTION_TYPE_KEYS_ONLY);
    database_.CreateTable(things);
  }
  absl::StatusOr<wire::WriteItemReply> Put(const std::string& sk, size_t bytes, const std::string& a = "a") {
    auto put = WriteRequest("Things",
                            {{"pk", S("p")}, {"sk", S(sk)}, {"a", S(a)}, {"b", S(std::string(bytes, 'b'))}});
    put.set_return_consumed_capacity(v1::RETURN_CONSUMED_CAPACITY_INDEXES);
    return PutItem(database_, put);
  }
  absl::StatusOr<Page> Scan(const wire::PageRequest& request) {
    return Await<Page>([&](auto done) { database_->Scan(request, std::move(done)); });
  }
  wire::PageRequest Request(v1::Select select, const std::string& index = "") {
    wire::PageRequest request = ScanRequest("Things");
    request.set_index_name(index);
    request.set_select(select);
    return request;
  }

  TestDatabase database_;
};

TEST_F(Pages, SelectMustFitProjectionAndIndex) {
  EXPECT_TRUE(Scan(Request(v1::SELECT_ALL_ATTRIBUTES)).ok());
  EXPECT_TRUE(Scan(Request(v1::SELECT_ALL_ATTRIBUTES, "All")).ok());
  EXPECT_THAT(Scan(Request(v1::SELECT_ALL_ATTRIBUTES, "Keys")).status(),
              IsInvalid("projection type is not ALL"));
  EXPECT_TRUE(Scan(Request(v1::SELECT_ALL_PROJECTED_ATTRIBUTES, "Keys")).ok());
  EXPECT_THAT(Scan(Request(v1::SELECT_ALL_PROJECTED_ATTRIBUTES)).status(), IsInvalid("IndexName"));
  EXPECT_THAT(Scan(Request(v1::SELECT_SPECIFIC_ATTRIBUTES)).status(), IsInvalid("ProjectionExpression"));
  EXPECT_THAT(Scan(Request(static_cast<v1::Select>(9))).status(), IsInvalid("Select 9 is unknown"));
  for (auto select : {v1::SELECT_ALL_ATTRIBUTES, v1::SELECT_ALL_PROJECTED_ATTRIBUTES, v1::SELECT_COUNT}) {
    auto request = Request(select, "All");
    request.set_projection_expression("b");
    EXPECT_THAT(Scan(request).status(), IsInvalid("Cannot specify the ProjectionExpression"));
    request.set_select(v1::SELECT_SPECIFIC_ATTRIBUTES);
    EXPECT_TRUE(Scan(request).ok());
  }
}

TEST_F(Pages, CountCarriesNoItemsAndPagesAsUsual) {
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(Put(std::to_string(i), 300'000).ok());
  auto page = Scan(Request(v1::SELECT_COUNT));
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(page->reply.count(), 4);
  EXPECT_TRUE(page->encoded_items.empty());
  EXPECT_TRUE(page->reply.has_last_evaluated_key());
}

TEST_F(Pages, CountAllCountsTheWholeRangeInOneCall) {
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(Put(std::to_string(i), 300'000, i % 2 == 0 ? "even" : "odd").ok());
  auto request = Request(v1::SELECT_COUNT);
  request.set_count_all(true);
  auto all = Scan(request);
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->reply.count(), 6);
  EXPECT_EQ(all->reply.scanned_count(), 6);
  EXPECT_FALSE(all->reply.has_last_evaluated_key());

  auto query = QueryRequest("Things", "a = :a", {{":a", S("odd")}});
  query.set_index_name("All");
  query.set_select(v1::SELECT_COUNT);
  query.set_count_all(true);
  auto odd = Await<Page>([&](auto done) { database_->Query(query, std::move(done)); });
  ASSERT_TRUE(odd.ok()) << odd.status();
  EXPECT_EQ(odd->reply.count(), 3);

  request.set_limit(1);
  EXPECT_THAT(Scan(request).status(), IsInvalid("count_all"));
  request.clear_limit();
  request.set_select(v1::SELECT_ALL_ATTRIBUTES);
  EXPECT_THAT(Scan(request).status(), IsInvalid("count_all"));
}

// Half a unit for each started 4 KiB of all items together; the index is charged for reads of its entries
// (SEM-062, SEM-065).
TEST_F(Pages, ReadsAreAccountedForByTheirBytes) {
  ASSERT_TRUE(Put("1", 3'000).ok());
  ASSERT_TRUE(Put("2", 3'000).ok());
  auto request = Request(v1::SELECT_UNSPECIFIED);
  auto none = Scan(request);
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->reply.has_consumed_capacity());
  request.set_return_consumed_capacity(v1::RETURN_CONSUMED_CAPACITY_TOTAL);
  auto eventual = Scan(request);
  ASSERT_TRUE(eventual.ok());
  EXPECT_EQ(eventual->reply.consumed_capacity().table_name(), "Things");
  EXPECT_EQ(eventual->reply.consumed_capacity().capacity_units(), 1.0);
  EXPECT_FALSE(eventual->reply.consumed_capacity().has_table());
  request.set_consistent_read(true);
  EXPECT_EQ(Scan(request)->reply.consumed_capacity().capacity_units(), 2.0);

  request.set_return_consumed_capacity(v1::RETURN_CONSUMED_CAPACITY_INDEXES);
  request.set_index_name("Keys");
  auto index = Scan(request)->reply.consumed_capacity();
  EXPECT_EQ(index.capacity_units(), 1.0);
  EXPECT_EQ(index.table().capacity_units(), 0.0);
  EXPECT_EQ(index.global_secondary_indexes().at("Keys").capacity_units(), 1.0);

  wire::GetItemRequest get;
  get.set_table_name("Things");
  get.set_key(Encode({{"pk", S("p")}, {"sk", S("missing")}}));
  get.set_return_consumed_capacity(v1::RETURN_CONSUMED_CAPACITY_TOTAL);
  EXPECT_EQ(GetItem(database_, get)->consumed_capacity().capacity_units(), 0.5);
  get.set_consistent_read(true);
  EXPECT_EQ(GetItem(database_, get)->consumed_capacity().capacity_units(), 1.0);
  get.set_return_consumed_capacity(static_cast<v1::ReturnConsumedCapacity>(7));
  EXPECT_THAT(GetItem(database_, get).status(), IsInvalid("ReturnConsumedCapacity 7 is unknown"));
}

// One unit for each started KiB of the larger item, old or new (SEM-063), and the units of changed index
// entries (SEM-064).
TEST_F(Pages, WritesAreAccountedForByTheLargerItemAndTheEntriesTheyTouch) {
  auto units = [](const absl::StatusOr<wire::WriteItemReply>& reply) {
    EXPECT_TRUE(reply.ok()) << reply.status();
    std::vector<double> all = {reply->consumed_capacity().capacity_units(),
                               reply->consumed_capacity().table().capacity_units()};
    for (const char* index : {"All", "Keys"}) {
      const auto& indexes = reply->consumed_capacity().global_secondary_indexes();
      auto found = indexes.find(index);
      all.push_back(found == indexes.end() ? 0 : found->second.capacity_units());
    }
    return all;
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(units(Put("1", 1'500)), ElementsAre(5, 2, 2, 1)) << "created";
  EXPECT_THAT(units(Put("1", 1'500)), ElementsAre(2, 2, 0, 0)) << "the same again";
  EXPECT_THAT(units(Put("1", 100)), ElementsAre(4, 2, 2, 0)) << "smaller; the keys' entry is untouched";
  EXPECT_THAT(units(Put("1", 100, "moved")), ElementsAre(5, 1, 2, 2)) << "another index key";
  auto remove = WriteRequest("Things", {{"pk", S("p")}, {"sk", S("1")}});
  remove.set_return_consumed_capacity(v1::RETURN_CONSUMED_CAPACITY_INDEXES);
  EXPECT_THAT(units(DeleteItem(database_, remove)), ElementsAre(3, 1, 1, 1)) << "removed";

  wire::TransactWriteItemsRequest transaction;
  *transaction.add_transact_items()->mutable_put() =
      WriteRequest("Things", {{"pk", S("p")}, {"sk", S("1")}, {"a", S("a")}});
  transaction.set_return_consumed_capacity(v1::RETURN_CONSUMED_CAPACITY_INDEXES);
  auto reply = Await<wire::TransactWriteItemsReply>(
      [&](auto done) { database_->TransactWriteItems(transaction, std::move(done)); });
  ASSERT_TRUE(reply.ok()) << reply.status();
  ASSERT_EQ(reply->consumed_capacity_size(), 1);
  EXPECT_EQ(reply->consumed_capacity(0).capacity_units(), 4.0);
  EXPECT_EQ(reply->consumed_capacity(0).table().capacity_units(), 2.0) << "twice in a transaction";
}

}  // namespace
}  // namespace itemdb::testing
