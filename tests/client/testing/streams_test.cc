// Streams of pages and bulk writes through the client, on the fake database: what the client resumes, and the
// errors it returns when it gives up.
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "itemdb/bulk_writer.h"
#include "itemdb/testing/fake_database.h"

namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using namespace itemdb;  // NOLINT: as a user's test would.
using itemdb::testing::FakeDatabase;
using itemdb::testing::Fault;

class StreamsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(client_
                    .CreateTable({.table_name = "Things",
                                  .attribute_definitions = {{"pk", ScalarAttributeType::kString},
                                                            {"sk", ScalarAttributeType::kNumber}},
                                  .key_schema = {{"pk", KeyType::kHash}, {"sk", KeyType::kRange}}})
                    .ok());
  }

  static Item Thing(int i) { return {{"pk", "c"}, {"sk", i}}; }
  void Fill(int count) {
    BulkWriter writer(client_);
    for (int i = 0; i < count; ++i) ASSERT_TRUE(writer.Put("Things", Thing(i)).ok());
    ASSERT_TRUE(writer.Finish().ok());
  }
  static QueryRequest Query(int limit) {
    return {.table_name = "Things",
            .key_condition_expression = "pk = :pk",
            .expression_attribute_values = {{":pk", "c"}},
            .limit = limit};
  }
  int64_t Changes() { return static_cast<int64_t>(client_.ReadChanges({})->change_sequence); }

  std::unique_ptr<FakeDatabase> database_ = *FakeDatabase::Open();
  Client client_ = database_->NewClient({.retry = {.initial_backoff = absl::Milliseconds(1)}});
};

TEST_F(StreamsTest, GiveTheItemsOfAllPagesOverOneStream) {  // A stream of pages (EXT-01).
  Fill(25);
  absl::StatusOr<std::vector<Item>> queried = client_.QueryStream(Query(10)).ToVector();
  ASSERT_TRUE(queried.ok()) << queried.status();
  ASSERT_EQ(queried->size(), 25u);
  for (int i = 0; i < 25; ++i) EXPECT_EQ((*queried)[i], Thing(i));
  EXPECT_EQ(database_->calls("QueryStream"), 1);
  absl::StatusOr<std::vector<Item>> scanned =
      client_.ScanStream({.table_name = "Things"}, {.one_state = true}).ToVector();
  ASSERT_TRUE(scanned.ok()) << scanned.status();
  EXPECT_EQ(*scanned, *queried);
}

// A stream of pages is resumed at the last page's key (EXT-01).
TEST_F(StreamsTest, GoOnAtTheLastPagesKeyWhenTheConnectionBreaks) {
  Fill(25);
  for (const Fault fault : {Fault::kUnavailable, Fault::kQueueFull, Fault::kLostRequest, Fault::kLostReply}) {
    database_->FailNext({.calls = 2, .fault = fault, .operation = "QueryStream"});
    absl::StatusOr<std::vector<Item>> items = client_.QueryStream(Query(10)).ToVector();
    ASSERT_TRUE(items.ok()) << items.status();
    EXPECT_THAT(*items, SizeIs(25));
  }
  // A stream gives up after as many attempts as any call.
  database_->FailNext({.calls = 100, .fault = Fault::kUnavailable, .operation = "QueryStream"});
  ItemRange range = client_.QueryStream(Query(10));
  EXPECT_EQ(range.Next().status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(StreamsTest, EndWithTheDaemonsStatus) {  // A stream of pages (EXT-01).
  ItemRange range = client_.ScanStream({.table_name = "Nothing"});
  EXPECT_EQ(range.Next().status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(database_->calls("ScanStream"), 1);
}

TEST_F(StreamsTest, AreCancelled) {  // A stream of pages (EXT-01).
  Fill(25);
  CancelToken token;
  ItemRange range = client_.QueryStream(Query(10), {}, {.cancel = token});
  ASSERT_TRUE(range.Next().ok());
  token.Cancel();
  EXPECT_EQ(range.ToVector().status().code(), absl::StatusCode::kCancelled);
}

// With its token (SEM-050) a chunk of a BulkWrite is applied once (EXT-03).
TEST_F(StreamsTest, BulkWriterAppliesEverythingOnceWhateverHappensToItsStreams) {
  const int64_t before = Changes();
  BulkWriter writer(client_, {.max_chunk_writes = 10, .chunks_under_way = 3});
  const Fault faults[] = {Fault::kLostReply, Fault::kLostRequest, Fault::kQueueFull, Fault::kLostReply};
  for (int i = 0; i < 1'000; ++i) {
    if (i == 0) database_->FailNext({.calls = 1, .fault = Fault::kLostReply, .operation = "BulkWrite"});
    ASSERT_TRUE(writer.Put("Things", Thing(i)).ok());
  }
  absl::StatusOr<BulkWriteResult> result = writer.Finish();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->applied, 1'000u);
  EXPECT_THAT(result->rejected, SizeIs(0));
  EXPECT_EQ(Changes() - before, 1'000);
  EXPECT_EQ(database_->calls("BulkWrite"), 2);
  // A chunk applied twice would put a deleted item again.
  for (const Fault fault : faults) {
    ASSERT_TRUE(client_.DeleteItem({.table_name = "Things", .key = Thing(0)}).ok());
    const int64_t puts_before = Changes();
    database_->FailNext({.calls = 3, .fault = fault, .operation = "BulkWrite"});
    BulkWriter one(client_);
    ASSERT_TRUE(one.Put("Things", Thing(0)).ok());
    ASSERT_TRUE(one.Delete("Things", Thing(0)).ok());
    ASSERT_TRUE(one.Put("Things", Thing(0)).ok());
    result = one.Finish();
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->applied, 3u);
    EXPECT_EQ(Changes() - puts_before, 3);
  }
}

// Rejected writes of a chunk are named by position (EXT-03).
TEST_F(StreamsTest, BulkWriterNamesTheWritesThatWereRejected) {
  BulkWriter writer(client_, {.max_chunk_writes = 3});
  ASSERT_TRUE(writer.Put("Things", Thing(0)).ok());
  ASSERT_TRUE(writer.Put("Things", {{"pk", 1}, {"sk", 1}}).ok());
  ASSERT_TRUE(writer.Delete("Things", Thing(2)).ok());
  ASSERT_TRUE(writer.Put("Things", Thing(3)).ok());
  ASSERT_TRUE(writer.Delete("Nothing", Thing(4)).ok());
  absl::StatusOr<BulkWriteResult> result = writer.Finish();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->applied, 3u);
  ASSERT_THAT(result->rejected, SizeIs(2));
  EXPECT_EQ(result->rejected[0].position, 1u);
  EXPECT_EQ(result->rejected[0].reason, "VALIDATION");
  EXPECT_EQ(std::get<BatchPut>(result->rejected[0].write).item, (Item{{"pk", 1}, {"sk", 1}}));
  EXPECT_EQ(result->rejected[1].position, 4u);
  EXPECT_EQ(result->rejected[1].reason, "RESOURCE_NOT_FOUND");
  EXPECT_EQ(std::get<BatchDelete>(result->rejected[1].write).table_name, "Nothing");
  EXPECT_EQ(writer.Put("Things", Thing(5)).code(), absl::StatusCode::kFailedPrecondition);
}

// The outcome of an unacknowledged chunk (EXT-03) is unknown (ERR-19).
TEST_F(StreamsTest, BulkWriterSaysWhatIsNotKnownWhenItGivesUp) {
  BulkWriter writer(client_, {.max_chunk_writes = 10, .chunks_under_way = 2});
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(writer.Put("Things", Thing(i)).ok());
  database_->FailNext({.calls = 100, .fault = Fault::kLostReply, .operation = "BulkWrite"});
  absl::Status status;
  int i = 10;
  for (; status.ok(); ++i) status = writer.Put("Things", Thing(i));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(i, 20);
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr("of 20 writes 0 were applied, 0 were rejected, 0 were not sent, and of 20 (the 0th to the "
                "19th, from 0) it is not known"));
  EXPECT_EQ(writer.Finish().status(), status);
}

TEST_F(StreamsTest, BulkWriterRefusesOptionsThatAreOfNoUse) {  // A chunk has 1 to 1,000 writes (EXT-03).
  EXPECT_EQ(BulkWriter(client_, {.max_chunk_writes = 0}).Put("Things", Thing(0)).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(BulkWriter(client_, {.max_chunk_writes = 1'001}).Finish().status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(BulkWriter(client_, {.chunks_under_way = 0}).Finish().status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(BulkWriter(client_).Finish().ok());
}

}  // namespace
