// BatchGetItem: how keys are split over requests, that unprocessed keys are requested again, and that every
// item is returned at the position of its key.
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "itemdb/client.h"
#include "tests/support/fake_daemon.h"

namespace itemdb {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<Item> Keys(int count) {
  std::vector<Item> keys;
  for (int i = 0; i < count; ++i) keys.push_back({{"k", i}});
  return keys;
}

int NumberOf(const v1::Item& item) { return std::stoi(item.attributes(0).value().n()); }

class BatchGetTest : public ::testing::Test {
 protected:
  using Request = v1::BatchGetItemRequest;
  using Reply = v1::BatchGetItemReply;

  // A daemon that has the items with even numbers and processes at most `room` keys of a request.
  void ServeEvenNumbers(int room) {
    daemon_.batch_get_item = [this, room](const Request& request, Reply* reply) {
      seen_.push_back(request);
      reply->set_change_sequence(seen_.size());
      int answered = 0;
      for (const v1::KeysAndAttributes& table : request.request_items()) {
        v1::ConsumedCapacity* capacity = reply->add_consumed_capacity();
        capacity->set_table_name(table.table_name());
        v1::TableItems* items = reply->add_responses();
        items->set_table_name(table.table_name());
        v1::KeysAndAttributes left = table;
        left.clear_keys();
        for (const v1::Item& key : table.keys()) {
          if (answered++ >= room) {
            *left.add_keys() = key;
            continue;
          }
          capacity->set_capacity_units(capacity->capacity_units() + 0.5);
          if (NumberOf(key) % 2 == 0) *items->add_items() = key;
        }
        if (left.keys_size() > 0) *reply->add_unprocessed_keys() = left;
      }
      return grpc::Status::OK;
    };
  }

  std::vector<int> Sizes() const {
    std::vector<int> sizes;
    for (const Request& request : seen_) {
      int keys = 0;
      for (const v1::KeysAndAttributes& table : request.request_items()) keys += table.keys_size();
      sizes.push_back(keys);
    }
    return sizes;
  }

  FakeDaemon daemon_;
  Client client_ = *Client::Open({.endpoint = daemon_.endpoint(), .retry = {.max_attempts = 1}});
  std::vector<Request> seen_;
};

void ExpectEvenNumbers(const BatchGetItemResult::Table& table, size_t count) {
  ASSERT_EQ(table.items.size(), count);
  for (size_t i = 0; i < count; ++i) {
    ASSERT_EQ(table.items[i].has_value(), i % 2 == 0) << i;
    if (table.items[i].has_value()) {
      EXPECT_EQ(*table.items[i], (Item{{"k", i}}));
    }
  }
}

// One request has at most 100 keys (SEM-043).
TEST_F(BatchGetTest, SplitsMoreThan100KeysOverTablesAndSaysWhichAreMissing) {
  ServeEvenNumbers(100);
  const absl::StatusOr<BatchGetItemResult> got = client_.BatchGetItem(
      {.request_items = {{.table_name = "a", .keys = Keys(150)},
                         {.table_name = "b", .keys = Keys(101), .consistent_read = true}},
       .return_consumed_capacity = ReturnConsumedCapacity::kTotal});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(Sizes(), ElementsAre(100, 100, 51));
  EXPECT_EQ(seen_[1].request_items_size(), 2);
  EXPECT_TRUE(seen_[1].request_items(1).consistent_read());
  EXPECT_EQ(seen_[0].return_consumed_capacity(), v1::RETURN_CONSUMED_CAPACITY_TOTAL);
  EXPECT_EQ(got->change_sequence, 3u);
  ASSERT_EQ(got->tables.size(), 2u);
  EXPECT_EQ(got->tables[1].table_name, "b");
  ExpectEvenNumbers(got->tables[0], 150);
  ExpectEvenNumbers(got->tables[1], 101);
  ASSERT_EQ(got->consumed_capacity.size(), 2u) << "one a table, over all batches";
  EXPECT_EQ(got->consumed_capacity[0].capacity_units, 75);
  EXPECT_EQ(got->consumed_capacity[1].capacity_units, 50.5);
}

// The daemon may leave keys unprocessed (SEM-043).
TEST_F(BatchGetTest, AsksForUnprocessedKeysUntilAllAreThere) {
  ServeEvenNumbers(40);
  const absl::StatusOr<BatchGetItemResult> got = client_.BatchGetItem(
      {.request_items = {{.table_name = "a", .keys = Keys(90)}, {.table_name = "b", .keys = Keys(20)}}});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_THAT(Sizes(), ElementsAre(100, 70, 30));
  ExpectEvenNumbers(got->tables[0], 90);
  ExpectEvenNumbers(got->tables[1], 20);
}

TEST_F(BatchGetTest, EmptyRequestsAreTheDaemonsToJudge) {
  ServeEvenNumbers(1);
  EXPECT_TRUE(client_.BatchGetItem({}).ok());
  EXPECT_TRUE(client_.BatchGetItem({.request_items = {{.table_name = "a"}}}).ok());
  ASSERT_EQ(seen_.size(), 2u);
  EXPECT_EQ(seen_[0].request_items_size(), 0);
  EXPECT_EQ(seen_[1].request_items_size(), 1);
}

// The client matches items and keys by the key attributes, so it reads them and then removes them from the
// answer.
TEST_F(BatchGetTest, ProjectionsWithoutTheKeyGetItAndTakeItOutAgain) {
  daemon_.batch_get_item = [this](const Request& request, Reply* reply) {
    seen_.push_back(request);
    v1::TableItems* items = reply->add_responses();
    items->set_table_name("a");
    v1::Item* item = items->add_items();
    *item = request.request_items(0).keys(1);
    v1::Attribute* attribute = item->add_attributes();
    attribute->set_name("x");
    attribute->mutable_value()->set_s("shown");
    return grpc::Status::OK;
  };
  BatchGetItemRequest request{.request_items = {{.table_name = "a",
                                                 .keys = Keys(2),
                                                 .projection_expression = "#k0 , y.z",
                                                 .expression_attribute_names = {{"#k0", "x"}}}}};
  absl::StatusOr<BatchGetItemResult> got = client_.BatchGetItem(request);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(seen_[0].request_items(0).projection_expression(), "#k0 , y.z,#k0_");
  EXPECT_EQ(seen_[0].request_items(0).expression_attribute_names().at("#k0_"), "k");
  EXPECT_THAT(got->tables[0].items, ElementsAre(std::nullopt, Item{{"x", "shown"}}));

  request.request_items[0].projection_expression = "#k0, k";
  got = client_.BatchGetItem(request);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(seen_[1].request_items(0).projection_expression(), "#k0, k");
  EXPECT_THAT(got->tables[0].items, ElementsAre(std::nullopt, Item{{"k", 1}, {"x", "shown"}}));
}

TEST_F(BatchGetTest, RepliesThatAreNoAnswerAreDataLoss) {
  v1::Item other;
  other.add_attributes()->set_name("k");
  other.mutable_attributes(0)->mutable_value()->set_n("99");
  const std::vector<std::pair<std::string, std::function<void(const Request&, Reply*)>>> cases = {
      {"none of the keys",
       [](const Request& request, Reply* reply) {
         *reply->mutable_unprocessed_keys() = request.request_items();
       }},
      {"leaves a key that was not asked for",
       [&](const Request& request, Reply* reply) {
         *reply->add_unprocessed_keys() = request.request_items(0);
         *reply->mutable_unprocessed_keys(0)->mutable_keys(0) = other;
       }},
      {"holds an item that was not asked for",
       [&](const Request&, Reply* reply) {
         reply->add_responses()->set_table_name("a");
         *reply->mutable_responses(0)->add_items() = other;
       }},
      {"holds an item that was not asked for", [](const Request& request, Reply* reply) {
         reply->add_responses()->set_table_name("a");
         for (int i : {0, 0}) *reply->mutable_responses(0)->add_items() = request.request_items(0).keys(i);
       }}};
  for (const auto& [expected, answer] : cases) {
    daemon_.batch_get_item = [answer = answer](const Request& request, Reply* reply) {
      answer(request, reply);
      return grpc::Status::OK;
    };
    const absl::Status status =
        client_.BatchGetItem({.request_items = {{.table_name = "a", .keys = Keys(2)}}}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(expected));
  }
}

TEST_F(BatchGetTest, ARefusedBatchEndsTheWhole) {
  int calls = 0;
  daemon_.batch_get_item = [&](const Request& request, Reply*) {
    if (++calls < 2) return grpc::Status::OK;
    return ErrorReply(grpc::StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND",
                      "no table " + request.request_items(0).table_name());
  };
  const absl::Status status =
      client_.BatchGetItemAsync({.request_items = {{.table_name = "a", .keys = Keys(201)}}}).get().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace itemdb
