// Query, Scan, and the ranges that read all pages of them.
#include <gtest/gtest.h>

#include "itemdb/client.h"
#include "itemdb/errors.h"
#include "itemdb/item_traits.h"
#include "tests/support/fake_daemon.h"

struct Numbered {
  int8_t n = 0;
};
ITEMDB_ITEM(Numbered, n)

namespace itemdb {
namespace {

// Serves the numbers 0 to `count - 1` as items {"n": N}, `page_items` to a page, with an empty page after
// each full one.
class ClientPagesTest : public testing::Test {
 protected:
  template <typename Request, typename Reply>
  grpc::Status ServePage(const Request& request, Reply* reply) {
    ++calls_;
    last_limit_ = request.has_limit() ? request.limit() : -1;
    int next = 0;
    bool empty = false;
    if (request.has_exclusive_start_key()) {
      for (const v1::Attribute& attribute : request.exclusive_start_key().attributes()) {
        if (attribute.name() == "n") next = std::stoi(attribute.value().n()) + 1;
        if (attribute.name() == "empty_page") empty = attribute.value().bool_();
      }
    }
    if (fail_at_ >= 0 && next >= fail_at_)
      return ErrorReply(grpc::StatusCode::DATA_LOSS, "DATA_LOSS", "damaged");
    const int end = empty ? next : std::min(next + page_items_, count_);
    for (int i = next; i < end; ++i) AddNumber("n", i, reply->add_items());
    reply->set_count(end - next);
    reply->set_scanned_count(end - next);
    reply->set_change_sequence(5);
    if (end < count_) {
      v1::Item* key = reply->mutable_last_evaluated_key();
      AddNumber("n", end - 1, key);
      v1::Attribute* attribute = key->add_attributes();
      attribute->set_name("empty_page");
      attribute->mutable_value()->set_bool_(!empty);
    }
    return grpc::Status::OK;
  }

  static void AddNumber(const std::string& name, int number, v1::Item* item) {
    v1::Attribute* attribute = item->add_attributes();
    attribute->set_name(name);
    attribute->mutable_value()->set_n(std::to_string(number));
  }

  void SetUp() override {
    daemon_.query = [this](const v1::QueryRequest& q, v1::QueryReply* r) { return ServePage(q, r); };
    daemon_.scan = [this](const v1::ScanRequest& q, v1::ScanReply* r) { return ServePage(q, r); };
  }

  std::vector<Item> Numbers(int from, int to) {
    std::vector<Item> items;
    for (int i = from; i < to; ++i) items.push_back({{"n", i}});
    return items;
  }

  int count_ = 10;
  int page_items_ = 3;
  int fail_at_ = -1;
  std::atomic<int> calls_ = 0;
  std::atomic<int> last_limit_ = 0;
  FakeDaemon daemon_;
  Client client_ = *Client::Open({.endpoint = daemon_.endpoint()});
};

TEST_F(ClientPagesTest, QuerySendsEveryFieldAndReturnsThePage) {
  v1::QueryRequest seen;
  daemon_.query = [&](const v1::QueryRequest& request, v1::QueryReply* reply) {
    seen = request;
    return ServePage(request, reply);
  };
  const absl::StatusOr<ItemPage> page =
      client_.Query({.table_name = "Order",
                     .index_name = "OpenOrdersByDate",
                     .key_condition_expression = "#s = :s",
                     .filter_expression = "a = :a",
                     .projection_expression = "b",
                     .expression_attribute_names = {{"#s", "status"}},
                     .expression_attribute_values = {{":s", "OPEN"}, {":a", 1}},
                     .limit = 3,
                     .exclusive_start_key = Item{{"n", 1}},
                     .scan_index_forward = false});
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(page->items, Numbers(2, 5));
  EXPECT_EQ(page->count, 3);
  EXPECT_EQ(page->scanned_count, 3);
  EXPECT_EQ(page->change_sequence, 5u);
  EXPECT_EQ(*page->last_evaluated_key, (Item{{"n", 4}, {"empty_page", true}}));
  EXPECT_EQ(seen.index_name(), "OpenOrdersByDate");
  EXPECT_EQ(seen.key_condition_expression(), "#s = :s");
  EXPECT_EQ(seen.filter_expression(), "a = :a");
  EXPECT_EQ(seen.projection_expression(), "b");
  EXPECT_EQ(seen.expression_attribute_values_size(), 2);
  EXPECT_EQ(seen.limit(), 3);
  EXPECT_FALSE(seen.scan_index_forward());
}

// Only a missing last_evaluated_key ends a range; an empty page does not (SEM-030).
TEST_F(ClientPagesTest, RangesGoThroughAllPagesForEveryPageSize) {
  for (page_items_ = 1; page_items_ <= 11; ++page_items_) {
    SCOPED_TRACE(page_items_);
    const absl::StatusOr<std::vector<Item>> queried =
        client_.QueryAll({.table_name = "t", .key_condition_expression = "k = k"}).ToVector();
    ASSERT_TRUE(queried.ok()) << queried.status();
    EXPECT_EQ(*queried, Numbers(0, 10));
    std::vector<Item> scanned;
    ItemRange range = client_.ScanAll({.table_name = "t", .limit = 2});
    for (const Item& item : range) scanned.push_back(item);
    EXPECT_TRUE(range.status().ok());
    EXPECT_EQ(scanned, Numbers(0, 10));
    EXPECT_EQ(last_limit_, 2);
  }
}

TEST_F(ClientPagesTest, RangesFetchLazilyAndContinueFromAStartKey) {
  page_items_ = 4;
  ItemRange range = client_.ScanAll({.table_name = "t", .exclusive_start_key = Item{{"n", 3}}});
  EXPECT_EQ(calls_, 0);
  for (int i = 4; i < 8; ++i) {
    const absl::StatusOr<std::optional<Item>> item = range.Next();
    ASSERT_TRUE(item.ok());
    EXPECT_EQ(**item, (Item{{"n", i}}));
  }
  EXPECT_EQ(calls_, 1);
}

TEST_F(ClientPagesTest, RangeSurvivesItsClient) {
  std::optional<ItemRange> range;
  {
    Client client = *Client::Open({.endpoint = daemon_.endpoint()});
    range.emplace(client.ScanAll({.table_name = "t"}));
  }
  const absl::StatusOr<std::vector<Item>> items = range->ToVector();
  ASSERT_TRUE(items.ok()) << items.status();
  EXPECT_EQ(items->size(), 10u);
}

TEST_F(ClientPagesTest, ErrorOnALaterPageEndsTheRangeAndStays) {
  fail_at_ = 6;
  ItemRange range = client_.QueryAll({.table_name = "t", .key_condition_expression = "k = k"});
  std::vector<Item> seen;
  for (const Item& item : range) seen.push_back(item);
  EXPECT_EQ(seen, Numbers(0, 6));
  EXPECT_EQ(range.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(range.Next().status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(range.ToVector().status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(ClientPagesTest, EmptyRangeEndsAtOnce) {
  count_ = 0;
  ItemRange range = client_.ScanAll({.table_name = "t"});
  EXPECT_TRUE(range.begin() == range.end());
  EXPECT_TRUE(range.status().ok());
  EXPECT_FALSE(range.Next()->has_value());
}

// Segments (SEM-033), Select (SEM-036) and ReturnConsumedCapacity (SEM-061).
TEST_F(ClientPagesTest, SelectSegmentsAndWhatIsAskedAboutTheReadArrive) {
  v1::QueryRequest query;
  v1::ScanRequest scan;
  const auto fill = [](auto* reply) {
    reply->set_count(int64_t{5'000'000'000});
    reply->set_scanned_count(int64_t{6'000'000'000});
    reply->mutable_consumed_capacity()->set_table_name("t");
    reply->mutable_consumed_capacity()->set_capacity_units(12);
    v1::ReadPlan* plan = reply->mutable_plan();
    plan->set_index_name("i");
    plan->set_key_range("PK = \"a\"");
    plan->set_lower_bound("l");
    plan->set_upper_bound("u");
    plan->set_forward(true);
    plan->set_bytes_read(1'000);
    plan->set_base_items_read(3);
    return grpc::Status::OK;
  };
  daemon_.query = [&](const v1::QueryRequest& request, v1::QueryReply* reply) {
    query = request;
    return fill(reply);
  };
  daemon_.scan = [&](const v1::ScanRequest& request, v1::ScanReply* reply) {
    scan = request;
    return fill(reply);
  };
  const absl::StatusOr<ItemPage> queried =
      client_.Query({.table_name = "t",
                     .key_condition_expression = "PK = :a",
                     .select = Select::kCount,
                     .count_all = true,
                     .consistent_read = true,
                     .return_consumed_capacity = ReturnConsumedCapacity::kTotal,
                     .explain = true});
  const absl::StatusOr<ItemPage> scanned =
      client_.Scan({.table_name = "t",
                    .segment = 0,
                    .total_segments = 4,
                    .select = Select::kAllProjectedAttributes,
                    .count_all = true,
                    .consistent_read = true,
                    .return_consumed_capacity = ReturnConsumedCapacity::kIndexes,
                    .explain = true});
  EXPECT_EQ(query.select(), v1::SELECT_COUNT);
  EXPECT_TRUE(query.count_all() && query.consistent_read() && query.explain());
  EXPECT_EQ(query.return_consumed_capacity(), v1::RETURN_CONSUMED_CAPACITY_TOTAL);
  EXPECT_EQ(scan.select(), v1::SELECT_ALL_PROJECTED_ATTRIBUTES);
  EXPECT_TRUE(scan.has_segment() && scan.segment() == 0 && scan.total_segments() == 4);
  EXPECT_TRUE(scan.count_all() && scan.consistent_read() && scan.explain());
  EXPECT_EQ(scan.return_consumed_capacity(), v1::RETURN_CONSUMED_CAPACITY_INDEXES);
  for (const absl::StatusOr<ItemPage>& page : {queried, scanned}) {
    ASSERT_TRUE(page.ok()) << page.status();
    EXPECT_EQ(page->count, 5'000'000'000);
    EXPECT_EQ(page->scanned_count, 6'000'000'000);
    EXPECT_EQ(page->consumed_capacity.value().capacity_units, 12);
    const ReadPlan& plan = page->plan.value();
    EXPECT_EQ(plan.index_name, "i");
    EXPECT_EQ(plan.key_range, "PK = \"a\"");
    EXPECT_EQ(plan.lower_bound + plan.upper_bound, "lu");
    EXPECT_TRUE(plan.forward);
    EXPECT_EQ(plan.bytes_read, 1'000);
    EXPECT_EQ(plan.base_items_read, 3);
  }
}

TEST_F(ClientPagesTest, TypedRangesConvertEachItemWhenItIsReached) {
  LazyRange<Numbered> range = ScanAllAs<Numbered>(client_, {.table_name = "t", .limit = 2});
  EXPECT_EQ(calls_, 0);
  std::vector<int> numbers;
  for (const Numbered& numbered : range) {
    numbers.push_back(numbered.n);
    // A page of three items, and an empty page between two of them.
    EXPECT_EQ(calls_, 1 + numbered.n / 3 * 2) << numbered.n;
  }
  EXPECT_TRUE(range.status().ok());
  EXPECT_EQ(numbers, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(last_limit_, 2);
  EXPECT_EQ(ToVectorOf<Numbered>(client_.ScanAll({.table_name = "t"}))->size(), 10u);
  EXPECT_EQ(QueryAllAs<Numbered>(client_, {.table_name = "t", .key_condition_expression = "k = k"})
                .ToVector()
                ->back()
                .n,
            9);
}

// 127 fits into an int8_t, 128 does not.
TEST_F(ClientPagesTest, AnItemThatDoesNotFitEndsATypedRangeWithAnError) {
  count_ = 200;
  page_items_ = 50;
  LazyRange<Numbered> range = ItemsAs<Numbered>(client_.ScanAll({.table_name = "t"}));
  int last = -1;
  for (const Numbered& numbered : range) last = numbered.n;
  EXPECT_EQ(last, 127);
  EXPECT_EQ(ReasonOf(range.status()), kReasonUnexpectedItem) << range.status();
  EXPECT_EQ(ReasonOf(range.Next().status()), kReasonUnexpectedItem);
  EXPECT_EQ(calls_, 5);  // Pages 0, 50 and 100, and the empty ones between; not the rest.
}

TEST_F(ClientPagesTest, ATypedRangeEndsWithTheErrorOfAPage) {
  fail_at_ = 6;
  LazyRange<Numbered> range = ScanAllAs<Numbered>(client_, {.table_name = "t"});
  int items = 0;
  for (const Numbered& numbered : range) items += numbered.n >= 0 ? 1 : 0;
  EXPECT_EQ(items, 6);
  EXPECT_EQ(range.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ReasonOf(range.status()), "DATA_LOSS");
}

}  // namespace
}  // namespace itemdb
