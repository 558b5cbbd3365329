// Changes in a block that cannot be read: readers are told where it is and go on behind it, and the change
// log is trimmed past it.
#include <chrono>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/storage/engine/recovery_fixture.h"

namespace itemdb::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// The number behind `word` in `text`.
uint64_t NumberIn(const std::string& text, const std::string& word) {
  const size_t at = text.find(word);
  EXPECT_NE(at, std::string::npos) << text;
  return at == std::string::npos ? 0 : std::stoull(text.substr(at + word.size()));
}

class DamagedChanges : public DamagedFilesTest {
 protected:
  void Open(const DatabaseOptions& options) {
    database_.reset();
    auto database = Database::Open(options);
    ASSERT_TRUE(database.ok()) << database.status();
    database_ = *std::move(database);
  }
  absl::StatusOr<v1::ReadChangesReply> ReadAfter(uint64_t after) {
    v1::ReadChangesRequest request;
    request.set_after_sequence(after);
    return Await<v1::ReadChangesReply>([&](auto done) { database_->ReadChanges(request, std::move(done)); });
  }
  absl::StatusOr<WatchPage> WatchAfter(uint64_t after) {
    v1::WatchRequest request;
    request.set_after_sequence(after);
    request.set_table_name(kOrderTable);
    return Await<WatchPage>([&](auto done) { database_->WatchChanges(request, std::move(done)); });
  }

  std::unique_ptr<Database> database_;
};

TEST_F(DamagedChanges, AreNamedAndReadersGoOnBehindThem) {
  MakeLargeItemsInTableFiles();
  const std::string file = FilesOf("changes").at(0);
  Flip(PathOf(file), DataBytes(file) / 2);
  Open(Options());
  if (HasFatalFailure()) return;

  // Every change before the damage is read, though it is in the same page.
  const auto before = ReadAfter(0);
  ASSERT_TRUE(before.ok()) << before.status();
  ASSERT_GT(before->records_size(), 1);
  const uint64_t last_before = before->records(before->records_size() - 1).change_sequence();
  EXPECT_LT(last_before, last_sequence_);
  const auto damaged = ReadAfter(last_before);
  EXPECT_EQ(damaged.status().code(), absl::StatusCode::kDataLoss);
  const std::string message = MessageOf(damaged.status());
  EXPECT_THAT(message,
              AllOf(HasSubstr(absl::StrCat("change ", last_before + 1, " cannot be read")), HasSubstr(file)));
  const uint64_t go_on_after = NumberIn(message, "goes on after the sequence ");
  EXPECT_GT(go_on_after, last_before);
  const auto behind = ReadAfter(go_on_after);
  ASSERT_TRUE(behind.ok()) << behind.status();
  EXPECT_EQ(behind->records(0).change_sequence(), go_on_after + 1);
  EXPECT_EQ(behind->records(behind->records_size() - 1).change_sequence(), last_sequence_);
  // One block has a few changes.
  EXPECT_LE(go_on_after - last_before, 10u);

  // The same for a watch of a table.
  const auto watched = WatchAfter(1);
  ASSERT_TRUE(watched.ok()) << watched.status();
  EXPECT_EQ(watched->reply.change_sequence(), last_before);
  const auto stopped = WatchAfter(last_before);
  EXPECT_EQ(stopped.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(NumberIn(MessageOf(stopped.status()), "goes on after the sequence "), go_on_after);
  const auto resumed = WatchAfter(go_on_after);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  EXPECT_EQ(resumed->reply.change_sequence(), last_sequence_);

  const auto list =
      Await<v1::ListDamageReply>([&](auto done) { database_->ListDamage({}, std::move(done)); });
  ASSERT_TRUE(list.ok() && list->files_size() == 1 && list->files(0).ranges_size() == 1) << list.status();
  EXPECT_EQ(list->files(0).ranges(0).after_sequence(), last_before);
  EXPECT_EQ(list->files(0).ranges(0).before_sequence(), go_on_after + 1);
}

TEST_F(DamagedChanges, AreNamedByStreamsWhichGoOnBehindThem) {
  Open(Options());
  if (HasFatalFailure()) return;
  v1::CreateTableRequest table = TableRequest("Things");
  table.set_stream_enabled(true);
  table.set_stream_view_type(v1::STREAM_VIEW_TYPE_NEW_IMAGE);
  ASSERT_TRUE(
      Await<v1::CreateTableReply>([&](auto done) { database_->CreateTable(table, std::move(done)); }).ok());
  for (int i = 0; i < kLargeItems; ++i) {
    wire::WriteItemRequest put;
    put.set_table_name("Things");
    put.set_key_or_item(
        Encode({{"pk", S(absl::StrCat(i))}, {"sk", S("#")}, {"a", S(std::string(3'000, 'p'))}}));
    ASSERT_TRUE(
        Await<wire::WriteItemReply>([&](auto done) { database_->PutItem(put, std::move(done)); }).ok());
  }
  Open(Options());  // Writes the log to table files.
  database_.reset();
  const std::string file = FilesOf("changes").at(0);
  Flip(PathOf(file), DataBytes(file) / 2);
  Open(Options());
  if (HasFatalFailure()) return;
  const auto streams =
      Await<ListStreamsReply>([&](auto done) { database_->ListStreams({}, std::move(done)); });
  ASSERT_TRUE(streams.ok()) << streams.status();
  ASSERT_EQ(streams->streams.size(), 1u);
  ShardIteratorRequest from;
  const v1::Stream& stream = streams->streams[0];
  from.stream_arn =
      "arn:aws:dynamodb:local:000000000000:table/" + stream.table_name() + "/stream/" + stream.stream_label();
  const auto described = Await<DescribeStreamReply>(
      [&](auto done) { database_->DescribeStream({.stream_arn = from.stream_arn}, std::move(done)); });
  ASSERT_TRUE(described.ok()) << described.status();
  from.shard_id = described->shards.at(0).shard_id;
  from.type = ShardIteratorType::kTrimHorizon;
  const auto read = [&](const std::string& iterator) {
    GetRecordsRequest request;
    request.shard_iterator = iterator;
    return Await<GetRecordsReply>([&](auto done) { database_->GetRecords(request, std::move(done)); });
  };
  const auto iterator = [&] {
    auto made = Await<std::string>([&](auto done) { database_->GetShardIterator(from, std::move(done)); });
    EXPECT_TRUE(made.ok()) << made.status();
    return made.value_or("");
  };
  const auto before = read(iterator());
  ASSERT_TRUE(before.ok()) << before.status();
  ASSERT_FALSE(before->events.empty());
  const auto damaged = read(before->next_shard_iterator);
  EXPECT_EQ(damaged.status().code(), absl::StatusCode::kDataLoss);
  from.type = ShardIteratorType::kAfterSequenceNumber;
  // The text of a sequence number ends with the digits of the change sequence.
  const std::string last = before->events.back().sequence_number;
  const uint64_t last_sequence = std::stoull(last.substr(last.size() - 6));
  const uint64_t go_on_after = NumberIn(MessageOf(damaged.status()), "goes on after the sequence ");
  from.sequence_number = last.substr(0, last.size() - 6) + absl::StrFormat("%06d", go_on_after);
  const auto behind = read(iterator());
  ASSERT_TRUE(behind.ok()) << behind.status();
  EXPECT_EQ(before->events.size() + behind->events.size() + (go_on_after - last_sequence),
            static_cast<size_t>(kLargeItems));
}

// Nearly all of the old changes are damaged: whichever the trimmer looks at.
TEST_F(DamagedChanges, AreTrimmedWithTheirFiles) {
  // Two files: RocksDB cannot move them to a deeper level without reading them.
  MakeLargeItemsInTableFiles(2);
  const std::vector<std::string> files = FilesOf("changes");
  ASSERT_GE(files.size(), 2u);
  const uint64_t bytes = DataBytes(files[0]);
  for (uint64_t at = bytes / 20; at < bytes * 19 / 20; at += 100) Flip(PathOf(files[0]), at);
  int64_t now_us = std::chrono::duration_cast<std::chrono::microseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count() +
                   int64_t{7'200'000'000};
  DatabaseOptions options = Options();
  options.clock_us = [now_us] { return now_us; };
  options.change_retention = std::chrono::hours(1);
  options.change_trim_interval = std::chrono::milliseconds(10);
  Open(options);
  if (HasFatalFailure()) return;
  const auto put = Put(*database_, 1'000);
  ASSERT_TRUE(put.ok()) << put.status();
  const auto oldest = [&] {
    const auto page = ReadAfter(put->change_sequence() - 1);
    return page.ok() ? page->oldest_sequence() : 0;
  };
  EXPECT_TRUE(Await([&] { return oldest() == put->change_sequence(); })) << oldest() << log_.str();
  EXPECT_EQ(ReasonOf(ReadAfter(5).status()), kReasonChangesTrimmed);
  for (const std::string& file : files)
    EXPECT_TRUE(Await([&] { return !fs::exists(PathOf(file)); })) << file << " was not deleted";
}

}  // namespace
}  // namespace itemdb::testing
