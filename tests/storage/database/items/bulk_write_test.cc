// BulkWrite: chunks of puts and deletes, applied in order, each write independent of the others (EXT-03).
#include <future>

#include "tests/storage/database/requests.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class BulkWriteTest : public ::testing::Test {
 protected:
  BulkWriteTest() {
    auto table = TableRequest("Things", /*sorted=*/false);
    AddIndex(&table, "Kinds", {"kind:S"}, 1, v1::PROJECTION_TYPE_ALL);
    database_.CreateTable(table);
    writes_ = database_->BeginBulkWrite();
  }

  static wire::BulkWriteChunk Chunk(uint64_t number, const std::string& token = "") {
    wire::BulkWriteChunk chunk;
    chunk.set_chunk_number(number);
    chunk.set_client_request_token(token);
    return chunk;
  }
  static void AddPut(wire::BulkWriteChunk* chunk, Attributes item, const std::string& table = "Things") {
    auto* entry = chunk->add_request_items();
    entry->set_table_name(table);
    entry->add_write_requests()->mutable_put_request()->set_item(Encode(item));
  }
  static void AddDelete(wire::BulkWriteChunk* chunk, Attributes key) {
    auto* entry = chunk->add_request_items();
    entry->set_table_name("Things");
    entry->add_write_requests()->mutable_delete_request()->set_key(Encode(key));
  }
  std::future<absl::StatusOr<wire::BulkWriteReply>> Start(const wire::BulkWriteChunk& chunk) {
    auto promise = std::make_shared<std::promise<absl::StatusOr<wire::BulkWriteReply>>>();
    database_->BulkWrite(*writes_, chunk, [promise](auto reply) { promise->set_value(std::move(reply)); });
    return promise->get_future();
  }
  absl::StatusOr<wire::BulkWriteReply> Write(const wire::BulkWriteChunk& chunk) { return Start(chunk).get(); }
  std::vector<std::string> Things() { return ScanAll(database_, ScanRequest("Things")); }

  TestDatabase database_;
  std::shared_ptr<BulkWrites> writes_;
};

TEST_F(BulkWriteTest, AppliesChunksAndSaysWhenTheyAreDurable) {  // EXT-03
  auto first = Chunk(1);
  AddPut(&first, {{"pk", S("a")}, {"kind", S("x")}});
  AddPut(&first, {{"pk", S("b")}});
  auto reply = Write(first);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->chunk_number(), 1u);
  EXPECT_EQ(reply->change_sequence(), 3u);
  EXPECT_EQ(reply->rejected_size(), 0);
  auto second = Chunk(2);
  AddDelete(&second, {{"pk", S("a")}});
  AddDelete(&second, {{"pk", S("never")}});
  reply = Write(second);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->change_sequence(), 4u);
  EXPECT_THAT(Things(), ElementsAre("pk=b"));
  database_.CheckIsClean();
}

TEST_F(BulkWriteTest, RejectsWhatCanNeverBeAppliedAndAppliesTheRest) {  // EXT-03
  auto chunk = Chunk(1);
  AddPut(&chunk, {{"pk", S("a")}});
  AddPut(&chunk, {{"pk", N("1")}});
  AddPut(&chunk, {{"pk", S("b")}, {"kind", N("1")}});  // Wrong type for the index: found when applied.
  AddPut(&chunk, {{"pk", S("c")}}, "Nothing");
  AddPut(&chunk, {{"pk", S("d")}, {"a", S(std::string(409'600, 'x'))}});
  AddDelete(&chunk, {{"pk", S("a")}, {"more", S("x")}});
  chunk.add_request_items()->set_table_name("Things");
  chunk.mutable_request_items(6)->add_write_requests();
  AddPut(&chunk, {{"pk", S("e")}});
  auto reply = Write(chunk);
  ASSERT_TRUE(reply.ok()) << reply.status();
  std::vector<std::string> rejected;
  for (const auto& write : reply->rejected()) {
    rejected.push_back(std::to_string(write.index()) + " " + write.reason());
    EXPECT_FALSE(write.message().empty());
  }
  EXPECT_THAT(rejected, ElementsAre("1 VALIDATION", "2 VALIDATION", "3 RESOURCE_NOT_FOUND", "4 VALIDATION",
                                    "5 VALIDATION", "6 VALIDATION"));
  EXPECT_THAT(Things(), ElementsAre("pk=a", "pk=e"));
  database_.CheckIsClean();
}

TEST_F(BulkWriteTest, AppliesSeveralWritesOnOneItemInTheirOrder) {  // EXT-03
  auto chunk = Chunk(1);
  AddPut(&chunk, {{"pk", S("a")}, {"kind", S("x")}});
  AddDelete(&chunk, {{"pk", S("a")}});
  AddPut(&chunk, {{"pk", S("a")}, {"kind", S("y")}});
  AddPut(&chunk, {{"pk", S("a")}, {"kind", S("z")}});
  AddPut(&chunk, {{"pk", S("b")}});
  AddDelete(&chunk, {{"pk", S("b")}});
  ASSERT_TRUE(Write(chunk).ok());
  EXPECT_THAT(Things(), ElementsAre("kind=z pk=a"));
  EXPECT_EQ(Changes(database_).size(), 7u);  // One is of the table's creation.
  database_.CheckIsClean();
}

TEST_F(BulkWriteTest, AppliesChunksInTheirOrderHoweverManyAreUnderWay) {  // EXT-03
  std::vector<std::future<absl::StatusOr<wire::BulkWriteReply>>> replies;
  for (int i = 1; i <= 50; ++i) {
    auto chunk = Chunk(i);
    AddPut(&chunk, {{"pk", S("same")}, {"n", N(std::to_string(i))}});
    // Every other chunk is read on an I/O thread, and so is prepared later.
    for (int j = 0; i % 2 == 1 && j < 300; ++j) AddPut(&chunk, {{"pk", S(std::to_string(j))}});
    replies.push_back(Start(chunk));
  }
  uint64_t last = 0;
  for (auto& future : replies) {
    auto reply = future.get();
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_GE(reply->change_sequence(), last);
    last = reply->change_sequence();
  }
  EXPECT_EQ(database_.Get("Things", {{"pk", S("same")}}), "n=50 pk=same");
}

TEST_F(BulkWriteTest, WaitsForRoomInTheQueue) {  // EXT-03
  TemporaryDirectory directory;
  DatabaseOptions options = TestDatabase::DefaultOptions(directory.path());
  options.max_queue_bytes = 1;
  TestDatabase database(std::move(options));
  database.CreateTable(TableRequest("Things", /*sorted=*/false));
  auto writes = database->BeginBulkWrite();
  std::vector<std::future<absl::StatusOr<wire::BulkWriteReply>>> replies;
  for (int i = 1; i <= 30; ++i) {
    auto chunk = Chunk(i);
    for (int j = 0; j < 100; ++j) AddPut(&chunk, {{"pk", S(std::to_string(i * 1'000 + j))}});
    auto promise = std::make_shared<std::promise<absl::StatusOr<wire::BulkWriteReply>>>();
    replies.push_back(promise->get_future());
    database->BulkWrite(*writes, chunk, [promise](auto reply) { promise->set_value(std::move(reply)); });
  }
  for (auto& reply : replies) EXPECT_TRUE(reply.get().ok());
  EXPECT_EQ(ScanAll(database, ScanRequest("Things")).size(), 3'000u);
}

TEST_F(BulkWriteTest, EndsWithAChunkOutOfOrder) {  // EXT-03
  auto chunk = Chunk(2);
  AddPut(&chunk, {{"pk", S("a")}});
  auto refused = Write(chunk);
  EXPECT_THAT(refused.status(), IsInvalid("chunk 2 came where chunk 1 belongs"));
  // A chunk out of order ends the stream.
  chunk.set_chunk_number(1);
  EXPECT_FALSE(Write(chunk).ok());
  EXPECT_THAT(Things(), SizeIs(0));
}

TEST_F(BulkWriteTest, RefusesChunksThatAreEmptyOrTooLong) {  // EXT-03
  EXPECT_THAT(Write(Chunk(1)).status(), IsInvalid("1 to 1000"));
  writes_ = database_->BeginBulkWrite();
  auto chunk = Chunk(1);
  for (int i = 0; i < 1'000; ++i) AddPut(&chunk, {{"pk", S(std::to_string(i))}});
  EXPECT_TRUE(Write(chunk).ok());
  chunk.set_chunk_number(2);
  AddPut(&chunk, {{"pk", S("one too many")}});
  EXPECT_THAT(Write(chunk).status(), IsInvalid("1 to 1000"));
  writes_ = database_->BeginBulkWrite();
  chunk = Chunk(1);
  for (int i = 0; i < 11; ++i)
    AddPut(&chunk, {{"pk", S(std::to_string(i))}, {"a", S(std::string(400'000, 'x'))}});
  EXPECT_THAT(Write(chunk).status(), IsInvalid("4194304"));
  EXPECT_THAT(Things(), SizeIs(1'000));
}

TEST_F(BulkWriteTest, AppliesAChunkOnceUnderItsTokenAndAnswersAsThen) {  // EXT-03, SEM-050
  auto chunk = Chunk(1, "token");
  AddPut(&chunk, {{"pk", S("a")}});
  AddPut(&chunk, {{"pk", S("b")}, {"kind", N("1")}});
  AddPut(&chunk, {{"pk", S("c")}}, "Nothing");
  auto first = Write(chunk);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_EQ(first->rejected_size(), 2);
  ASSERT_TRUE(database_.Delete("Things", {{"pk", S("a")}}).ok());
  // Sent on another stream, with another number, after the missing table was created.
  database_.CreateTable(TableRequest("Nothing", /*sorted=*/false));
  writes_ = database_->BeginBulkWrite();
  auto other = Chunk(1);
  AddPut(&other, {{"pk", S("z")}});
  ASSERT_TRUE(Write(other).ok());
  chunk.set_chunk_number(2);
  auto again = Write(chunk);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->chunk_number(), 2u);
  ASSERT_EQ(again->rejected_size(), 2);
  EXPECT_EQ(again->rejected(1).SerializeAsString(), first->rejected(1).SerializeAsString());
  EXPECT_THAT(Things(), ElementsAre("pk=z"));
  // Another chunk with the same token is an error.
  chunk.set_chunk_number(3);
  AddPut(&chunk, {{"pk", S("d")}});
  auto mismatch = Write(chunk);
  EXPECT_EQ(ReasonOf(mismatch.status()), kReasonIdempotentParameterMismatch) << mismatch.status();
}

// The place for tokens is limited, so long messages are not kept.
TEST_F(BulkWriteTest, KeepsOfManyRejectionsOnlyWhichAndWhy) {  // EXT-03, SEM-050
  auto chunk = Chunk(1, "token");
  for (int i = 0; i < 200; ++i) AddPut(&chunk, {{"pk", N("1")}});
  auto first = Write(chunk);
  ASSERT_TRUE(first.ok()) << first.status();
  chunk.set_chunk_number(2);
  auto again = Write(chunk);
  ASSERT_TRUE(again.ok()) << again.status();
  ASSERT_EQ(again->rejected_size(), 200);
  EXPECT_EQ(again->rejected(199).index(), 199);
  EXPECT_EQ(again->rejected(199).reason(), first->rejected(199).reason());
  EXPECT_THAT(again->rejected(199).message(), HasSubstr("when its chunk was applied first"));
  database_.CheckIsClean();
}

// Also if the chunk fails only when it is applied: a later chunk may be in the same commit group.
TEST_F(BulkWriteTest, AppliesNothingAfterAChunkThatFails) {  // EXT-03
  auto first = Chunk(1, "token");
  AddPut(&first, {{"pk", S("a")}});
  ASSERT_TRUE(Write(first).ok());
  for (int round = 0; round < 20; ++round) {
    writes_ = database_->BeginBulkWrite();
    auto other = Chunk(1, "token");
    AddPut(&other, {{"pk", S("b")}});
    auto next = Chunk(2);
    AddPut(&next, {{"pk", S("c")}});
    auto failing = Start(other);
    auto following = Start(next);
    EXPECT_EQ(ReasonOf(failing.get().status()), kReasonIdempotentParameterMismatch);
    EXPECT_FALSE(following.get().ok());
  }
  EXPECT_THAT(Things(), ElementsAre("pk=a"));
}

TEST_F(BulkWriteTest, KeepsTheSizesOfItemCollections) {  // EXT-03, SEM-092
  auto local = TableRequest("Local");
  AddLocalIndex(&local, "ByRank", "rate:N", v1::PROJECTION_TYPE_ALL);
  database_.CreateTable(local);
  auto chunk = Chunk(1);
  for (int i = 0; i < 5; ++i) {
    AddPut(&chunk, {{"pk", S("p")}, {"sk", S("s")}, {"rate", N(std::to_string(i))}}, "Local");
    AddPut(&chunk, {{"pk", S("p")}, {"sk", S(std::to_string(i))}, {"rate", N("1")}}, "Local");
  }
  auto reply = Write(chunk);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->rejected_size(), 0);
  database_.CheckIsClean();
}

TEST_F(BulkWriteTest, BoundsWhatAChunkReplaces) {  // EXT-03
  for (int i = 0; i < 180; ++i) {
    ASSERT_TRUE(
        database_.Put("Things", {{"pk", S(std::to_string(i))}, {"a", S(std::string(400'000, 'x'))}}).ok());
  }
  auto chunk = Chunk(1);
  for (int i = 0; i < 180; ++i) AddDelete(&chunk, {{"pk", S(std::to_string(i))}});
  auto refused = Write(chunk);
  EXPECT_EQ(ReasonOf(refused.status()), kReasonLimitExceeded) << refused.status();
  EXPECT_THAT(MessageOf(refused.status()), HasSubstr("67108864"));
  EXPECT_THAT(Things(), SizeIs(180));
}

}  // namespace
}  // namespace itemdb::testing
