// ClientOptions::on_call and ClientOptions::traceparent.
#include <mutex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "itemdb/bulk_writer.h"
#include "itemdb/client.h"
#include "itemdb/testing/fake_database.h"

namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::Ge;
using ::testing::Le;
using namespace itemdb;  // NOLINT: as a user's test would.
using itemdb::testing::FakeDatabase;
using itemdb::testing::Fault;

constexpr char kSpan[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

// What the hook was told of a call.
struct Observed {
  std::string operation;
  std::string table;
  std::string reason;
  int attempts = 0;
  std::string traceparent = "";
  absl::Duration duration = absl::ZeroDuration();

  friend bool operator==(const Observed& a, const Observed& b) {
    return a.operation == b.operation && a.table == b.table && a.reason == b.reason &&
           a.attempts == b.attempts && a.traceparent == b.traceparent;
  }
  friend std::ostream& operator<<(std::ostream& out, const Observed& call) {
    return out << call.operation << " " << call.table << " " << call.reason << " " << call.attempts << " "
               << call.traceparent;
  }
};

class ObservedCallsTest : public ::testing::Test {
 protected:
  ObservedCallsTest() {
    EXPECT_TRUE(client_
                    .CreateTable({.table_name = "Product",
                                  .attribute_definitions = {{"id", ScalarAttributeType::kString}},
                                  .key_schema = {{"id", KeyType::kHash}}})
                    .ok());
    EXPECT_THAT(Take(), ElementsAre(Observed{"CreateTable", "Product", "", 1}));
  }

  absl::Status Put(CallOptions options = {}) {
    return client_.PutItem({.table_name = "Product", .item = {{"id", "hammer"}}}, options).status();
  }
  std::vector<Observed> Take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(observed_, {});
  }

  std::mutex mutex_;
  std::vector<Observed> observed_;
  std::string span_;
  std::unique_ptr<FakeDatabase> database_ = *FakeDatabase::Open();
  Client client_ = database_->NewClient({.retry = {.initial_backoff = absl::Milliseconds(1)},
                                         .on_call =
                                             [this](const CallRecord& call) {
                                               const std::lock_guard lock(mutex_);
                                               observed_.push_back(
                                                   {std::string(call.operation), std::string(call.table_name),
                                                    ReasonOf(call.status), call.attempts,
                                                    std::string(call.traceparent), call.duration});
                                             },
                                         .traceparent = [this] { return span_; }});
};

TEST_F(ObservedCallsTest, EachCallIsToldOnceWithItsTableAndOutcome) {
  ASSERT_TRUE(Put().ok());
  ASSERT_TRUE(client_.GetItem({.table_name = "Product", .key = {{"id", "hammer"}}}).ok());
  ASSERT_FALSE(client_
                   .Query({.table_name = "NoTable",
                           .key_condition_expression = "id = :i",
                           .expression_attribute_values = {{":i", "x"}}})
                   .ok());
  ASSERT_FALSE(
      client_
          .TransactWriteItems({.actions = {TransactDelete{.table_name = "Product",
                                                          .key = {{"id", "saw"}},
                                                          .condition_expression = "attribute_exists(id)"}}})
          .ok());
  EXPECT_TRUE(
      client_.BatchWriteItem({.writes = {BatchPut{.table_name = "Product", .item = {{"id", "saw"}}}}}).ok());
  EXPECT_TRUE(client_.ListTables().ok());
  EXPECT_THAT(Take(),
              ElementsAre(Observed{"PutItem", "Product", "", 1}, Observed{"GetItem", "Product", "", 1},
                          Observed{"Query", "NoTable", "RESOURCE_NOT_FOUND", 1},
                          // A false condition is no error of the call.
                          Observed{"TransactWriteItems", "Product", "", 1},
                          Observed{"BatchWriteItem", "Product", "", 1}, Observed{"ListTables", "", "", 1}));
}

TEST_F(ObservedCallsTest, AttemptsAreCountedAndTimeIsTakenOverAllOfThem) {
  database_->FailNext({.calls = 2, .fault = Fault::kUnavailable});
  const absl::Time begin = absl::Now();
  ASSERT_TRUE(Put().ok());
  const absl::Duration took = absl::Now() - begin;
  std::vector<Observed> calls = Take();
  EXPECT_THAT(calls, ElementsAre(Observed{"PutItem", "Product", "", 3}));
  EXPECT_THAT(calls.at(0).duration, AllOf(Ge(absl::Milliseconds(1)), Le(took)));
  database_->FailNext({.calls = 1, .fault = Fault::kLostReply});
  ASSERT_FALSE(Put().ok());
  EXPECT_THAT(Take(), ElementsAre(Observed{"PutItem", "Product", "WRITE_OUTCOME_UNKNOWN", 1}));
}

TEST_F(ObservedCallsTest, AStreamIsOneCall) {
  {
    BulkWriter writer(client_);
    ASSERT_TRUE(writer.Put("Product", {{"id", "nail"}}).ok());
    ASSERT_TRUE(writer.Finish().ok());
  }
  {
    ItemRange range = client_.ScanStream({.table_name = "Product"});
    while (range.Next()->has_value()) {
    }
  }
  EXPECT_THAT(Take(),
              ElementsAre(Observed{"BulkWrite", "", "", 1}, Observed{"ScanStream", "Product", "", 1}));
}

TEST_F(ObservedCallsTest, TheSpanOfTheCallerIsThatOfTheThreadThatCalls) {
  span_ = kSpan;
  ASSERT_TRUE(Put().ok());
  // gRPC would end the process for such a text.
  span_ = "00-\xff";
  ASSERT_TRUE(Put().ok());
  const std::string own = "00-00000000000000000000000000000001-0000000000000001-00";
  ASSERT_TRUE(Put({.traceparent = own}).ok());
  EXPECT_THAT(Take(),
              ElementsAre(Observed{"PutItem", "Product", "", 1, kSpan}, Observed{"PutItem", "Product", "", 1},
                          Observed{"PutItem", "Product", "", 1, own}));
  // Its second batch is sent from a thread of the library.
  span_ = kSpan;
  std::vector<BatchWrite> writes;
  for (int i = 0; i < 30; ++i)
    writes.push_back(BatchPut{.table_name = "Product", .item = {{"id", std::to_string(i)}}});
  const std::thread::id caller = std::this_thread::get_id();
  Client watched = database_->NewClient(
      {.on_call =
           [this](const CallRecord& call) {
             const std::lock_guard lock(mutex_);
             observed_.push_back({std::string(call.operation), "", "", 0, std::string(call.traceparent), {}});
           },
       .traceparent =
           [&] {
             EXPECT_EQ(std::this_thread::get_id(), caller);
             return span_;
           }});
  ASSERT_TRUE(watched.BatchWriteItem({.writes = writes}).ok());
  const std::vector<Observed> batches = Take();
  ASSERT_GE(batches.size(), 2u);
  for (const Observed& batch : batches) EXPECT_EQ(batch.traceparent, kSpan);
}

}  // namespace
