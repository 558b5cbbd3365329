// The Streams API: the change log through tables, streams, shards and iterators.

#include <array>
#include <set>
#include <thread>

#include "storage/changes/shard_iterator.h"
#include "storage/changes/stream_names.h"
#include "tests/storage/database/requests.h"

namespace itemdb::testing {
namespace {

absl::StatusOr<ListStreamsReply> ListStreams(TestDatabase& database, const ListStreamsRequest& request) {
  return Await<ListStreamsReply>([&](auto done) { database->ListStreams(request, std::move(done)); });
}
absl::StatusOr<DescribeStreamReply> DescribeStream(TestDatabase& database,
                                                   const DescribeStreamRequest& request) {
  return Await<DescribeStreamReply>([&](auto done) { database->DescribeStream(request, std::move(done)); });
}
absl::StatusOr<std::string> GetShardIterator(TestDatabase& database, const ShardIteratorRequest& request) {
  return Await<std::string>([&](auto done) { database->GetShardIterator(request, std::move(done)); });
}

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string ArnOf(const v1::Stream& stream) {
  return "arn:aws:dynamodb:local:000000000000:table/" + stream.table_name() + "/stream/" +
         stream.stream_label();
}

// For example "INSERT pk=p: old -> new".
std::string ShowEvent(const StreamEvent& event) {
  std::string text = v1::ChangeKind_Name(event.kind).substr(std::string("CHANGE_KIND_").size());
  text += " " + Show(event.key);
  if (event.old_image.has_value() || event.new_image.has_value()) text += ":";
  if (event.old_image.has_value()) text += " " + Show(*event.old_image);
  if (event.new_image.has_value()) text += " -> " + Show(*event.new_image);
  return text;
}

class Streams : public ::testing::Test {
 protected:
  void CreateWithStream(const std::string& name,
                        v1::StreamViewType view = v1::STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES) {
    auto table = TableRequest(name, false);
    table.set_stream_enabled(true);
    table.set_stream_view_type(view);
    database_.CreateTable(table);
  }
  absl::StatusOr<v1::TableDescription> Update(const std::string& name, std::optional<bool> enabled,
                                              v1::StreamViewType view = v1::STREAM_VIEW_TYPE_UNSPECIFIED) {
    v1::UpdateTableRequest request;
    request.set_table_name(name);
    if (enabled.has_value()) request.set_stream_enabled(*enabled);
    request.set_stream_view_type(view);
    auto reply =
        Await<v1::UpdateTableReply>([&](auto done) { database_->UpdateTable(request, std::move(done)); });
    if (!reply.ok()) return reply.status();
    return reply->table();
  }
  std::vector<v1::Stream> List(const std::string& table = "") {
    auto reply = ListStreams(database_, {.table_name = table});
    EXPECT_TRUE(reply.ok()) << reply.status();
    return reply.ok() ? reply->streams : std::vector<v1::Stream>();
  }
  v1::Stream Latest(const std::string& table) {
    auto streams = List(table);
    EXPECT_FALSE(streams.empty());
    return streams.empty() ? v1::Stream() : streams.back();
  }
  absl::StatusOr<std::string> Iterator(const v1::Stream& stream, ShardIteratorType type,
                                       const std::string& sequence_number = "") {
    return GetShardIterator(database_, {.stream_arn = ArnOf(stream),
                                        .shard_id = ShardIdOf(stream),
                                        .type = type,
                                        .sequence_number = sequence_number});
  }
  absl::StatusOr<GetRecordsReply> Get(const std::string& iterator, std::optional<int64_t> limit = {}) {
    return Await<GetRecordsReply>([&](auto done) {
      database_->GetRecords({.shard_iterator = iterator, .limit = limit}, std::move(done));
    });
  }
  // Reads from the oldest event to the newest and returns the events as text.
  std::vector<std::string> ReadAll(const v1::Stream& stream) {
    std::vector<std::string> events;
    auto iterator = Iterator(stream, ShardIteratorType::kTrimHorizon);
    EXPECT_TRUE(iterator.ok()) << iterator.status();
    while (iterator.ok() && !iterator->empty()) {
      auto reply = Get(*iterator);
      EXPECT_TRUE(reply.ok()) << reply.status();
      if (!reply.ok() || reply->events.empty()) break;
      for (const StreamEvent& event : reply->events) events.push_back(ShowEvent(event));
      iterator = reply->next_shard_iterator;
    }
    return events;
  }
  void Put(const std::string& table, const std::string& key, const std::string& value = "v") {
    auto put = database_.Put(table, {{"pk", S(key)}, {"a", S(value)}});
    ASSERT_TRUE(put.ok()) << put.status();
  }

  TestDatabase database_;
};

TEST_F(Streams, ShowTheImagesOfTheirViewType) {  // SEM-101, SEM-102
  struct Row {
    v1::StreamViewType view;
    std::vector<std::string> events;
  };
  const Row rows[] = {
      {v1::STREAM_VIEW_TYPE_KEYS_ONLY, {"INSERT pk=p", "MODIFY pk=p", "REMOVE pk=p"}},
      {v1::STREAM_VIEW_TYPE_NEW_IMAGE,
       {"INSERT pk=p: -> a=1 pk=p", "MODIFY pk=p: -> a=2 pk=p", "REMOVE pk=p"}},
      {v1::STREAM_VIEW_TYPE_OLD_IMAGE, {"INSERT pk=p", "MODIFY pk=p: a=1 pk=p", "REMOVE pk=p: a=2 pk=p"}},
      {v1::STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES,
       {"INSERT pk=p: -> a=1 pk=p", "MODIFY pk=p: a=1 pk=p -> a=2 pk=p", "REMOVE pk=p: a=2 pk=p"}}};
  for (const Row& row : rows) {
    const std::string name = "Table" + std::to_string(row.view);
    SCOPED_TRACE(v1::StreamViewType_Name(row.view));
    CreateWithStream(name, row.view);
    CreateWithStream(name + "Other", row.view);
    Put(name, "p", "1");
    Put(name + "Other", "p", "1");
    Put(name, "p", "1");  // Changes nothing.
    Put(name, "p", "2");
    ASSERT_TRUE(database_.Delete(name, {{"pk", S("p")}}).ok());
    EXPECT_EQ(ReadAll(Latest(name)), row.events);
  }
}

// A write of equal values is not a change, whatever their notation.
TEST_F(Streams, HaveNoEventForAWriteThatChangesNothing) {  // SEM-102
  CreateWithStream("Things");
  auto map = [](bool turned) {
    v1::AttributeValue value;
    for (const char* name : turned ? std::array{"b", "a"} : std::array{"a", "b"}) {
      auto* entry = value.mutable_m()->add_attributes();
      entry->set_name(name);
      entry->mutable_value()->set_n("1");
    }
    return value;
  };
  auto set = [](std::initializer_list<const char*> elements) {
    v1::AttributeValue value;
    for (const char* element : elements) value.mutable_ns()->add_values(element);
    return value;
  };
  ASSERT_TRUE(database_.Put("Things", {{"pk", S("p")}, {"m", map(false)}, {"s", set({"1", "2"})}}).ok());
  ASSERT_TRUE(database_.Put("Things", {{"s", set({"2", "1"})}, {"m", map(true)}, {"pk", S("p")}}).ok());
  ASSERT_TRUE(database_.Put("Things", {{"pk", S("p")}, {"m", map(true)}, {"s", set({"2.0", "1e0"})}}).ok());
  EXPECT_THAT(ReadAll(Latest("Things")), SizeIs(1));
}

TEST_F(Streams, AreEnabledAndDisabled) {  // SEM-098
  database_.CreateTable(TableRequest("Things", false));
  EXPECT_THAT(List("Things"), IsEmpty());
  EXPECT_FALSE(Describe(database_, "Things").stream_enabled());
  Put("Things", "before");

  EXPECT_THAT(Update("Things", false).status(), IsInvalid("already disabled"));
  EXPECT_THAT(Update("Things", true).status(), IsInvalid("StreamViewType must be given"));
  auto enabled = Update("Things", true, v1::STREAM_VIEW_TYPE_NEW_IMAGE);
  ASSERT_TRUE(enabled.ok()) << enabled.status();
  EXPECT_TRUE(enabled->stream_enabled());
  const v1::Stream first = Latest("Things");
  EXPECT_EQ(enabled->latest_stream_label(), first.stream_label());
  EXPECT_THAT(Update("Things", true, v1::STREAM_VIEW_TYPE_NEW_IMAGE).status(), IsInvalid("already enabled"));
  EXPECT_THAT(Update("Things", {}, v1::STREAM_VIEW_TYPE_OLD_IMAGE).status(), IsInvalid("cannot be changed"));
  Put("Things", "in the first");

  EXPECT_THAT(Update("Things", false, v1::STREAM_VIEW_TYPE_KEYS_ONLY).status(), IsInvalid("StreamViewType"));
  auto disabled = Update("Things", false);
  ASSERT_TRUE(disabled.ok()) << disabled.status();
  EXPECT_FALSE(disabled->stream_enabled());
  EXPECT_EQ(disabled->latest_stream_label(), first.stream_label());
  EXPECT_EQ(disabled->stream_view_type(), v1::STREAM_VIEW_TYPE_KEYS_ONLY);
  Put("Things", "between");

  ASSERT_TRUE(Update("Things", true, v1::STREAM_VIEW_TYPE_KEYS_ONLY).ok());
  const v1::Stream second = Latest("Things");
  EXPECT_LT(first.stream_label(), second.stream_label());
  Put("Things", "in the second");
  database_.Reopen();
  EXPECT_THAT(List("Things"), SizeIs(2));
  EXPECT_THAT(ReadAll(first), ElementsAre("INSERT pk=in the first: -> a=v pk=in the first"));
  EXPECT_THAT(ReadAll(second), ElementsAre("INSERT pk=in the second"));
  database_.CheckIsClean();
}

TEST_F(Streams, OutliveTheirTable) {  // SEM-103
  CreateWithStream("Things");
  Put("Things", "a");
  const v1::Stream stream = Latest("Things");
  auto iterator = Iterator(stream, ShardIteratorType::kTrimHorizon);
  ASSERT_TRUE(iterator.ok());
  auto open = Get(*iterator);
  ASSERT_TRUE(open.ok());
  Put("Things", "b");
  ASSERT_TRUE(DeleteTable(database_, "Things").ok());
  // A reader that started earlier can read to the end of the shard.
  auto rest = Get(open->next_shard_iterator);
  ASSERT_TRUE(rest.ok()) << rest.status();
  ASSERT_THAT(rest->events, SizeIs(1));
  EXPECT_EQ(ShowEvent(rest->events[0]), "INSERT pk=b: -> a=v pk=b");
  EXPECT_THAT(rest->next_shard_iterator, IsEmpty());

  CreateWithStream("Things");  // A new table and a new stream.
  Put("Things", "c");
  EXPECT_THAT(List("Things"), SizeIs(2));
  EXPECT_THAT(ReadAll(stream), SizeIs(2));
  EXPECT_THAT(ReadAll(Latest("Things")), SizeIs(1));
  auto described = DescribeStream(database_, {.stream_arn = ArnOf(stream)});
  ASSERT_TRUE(described.ok()) << described.status();
  EXPECT_NE(described->stream.disabled_sequence(), 0u);
  EXPECT_THAT(described->shards[0].ending_sequence_number, SizeIs(21));
}

TEST_F(Streams, IteratorsBeginWhereTheirTypeSays) {  // SEM-104
  CreateWithStream("Things", v1::STREAM_VIEW_TYPE_KEYS_ONLY);
  for (const char* key : {"a", "b", "c"}) Put("Things", key);
  const v1::Stream stream = Latest("Things");
  const std::string b = SequenceNumberOf(3);
  struct Row {
    ShardIteratorType type;
    std::string number;
    std::vector<std::string> events;
  };
  const Row rows[] = {
      {ShardIteratorType::kTrimHorizon, "", {"INSERT pk=a", "INSERT pk=b", "INSERT pk=c", "INSERT pk=d"}},
      {ShardIteratorType::kLatest, "", {"INSERT pk=d"}},
      {ShardIteratorType::kAtSequenceNumber, b, {"INSERT pk=b", "INSERT pk=c", "INSERT pk=d"}},
      {ShardIteratorType::kAfterSequenceNumber, b, {"INSERT pk=c", "INSERT pk=d"}}};
  std::vector<std::string> iterators;
  for (const Row& row : rows) {
    auto iterator = Iterator(stream, row.type, row.number);
    ASSERT_TRUE(iterator.ok()) << iterator.status();
    iterators.push_back(*iterator);
  }
  Put("Things", "d");
  database_.Reopen();  // An iterator needs no state in the database.
  for (size_t i = 0; i < iterators.size(); ++i) {
    SCOPED_TRACE(i);
    auto reply = Get(iterators[i]);
    ASSERT_TRUE(reply.ok()) << reply.status();
    std::vector<std::string> events;
    for (const StreamEvent& event : reply->events) events.push_back(ShowEvent(event));
    EXPECT_EQ(events, rows[i].events);
    EXPECT_FALSE(reply->next_shard_iterator.empty());
  }
  EXPECT_THAT(Iterator(stream, ShardIteratorType::kTrimHorizon, b).status(), IsInvalid("SequenceNumber"));
  EXPECT_THAT(Iterator(stream, ShardIteratorType::kAtSequenceNumber).status(), IsInvalid("SequenceNumber"));
  for (const std::string& number : {SequenceNumberOf(0), std::string("7"), std::string(21, 'x')})
    EXPECT_THAT(Iterator(stream, ShardIteratorType::kAtSequenceNumber, number).status(),
                IsInvalid("SequenceNumber"));
}

TEST_F(Streams, AnotherReadOfAnIteratorGivesTheSame) {  // SEM-107
  CreateWithStream("Things");
  for (int i = 0; i < 10; ++i) Put("Things", std::to_string(i));
  auto iterator = Iterator(Latest("Things"), ShardIteratorType::kTrimHorizon);
  ASSERT_TRUE(iterator.ok());
  std::vector<std::string> first;
  for (int round = 0; round < 2; ++round) {
    auto reply = Get(*iterator);
    ASSERT_TRUE(reply.ok());
    std::vector<std::string> events;
    for (const StreamEvent& event : reply->events) events.push_back(event.event_id + event.sequence_number);
    EXPECT_THAT(events, SizeIs(10));
    EXPECT_EQ(std::set<std::string>(events.begin(), events.end()).size(), 10u);
    if (round == 0) first = events;
    EXPECT_EQ(events, first);
  }
}

TEST_F(Streams, PagesAreBounded) {  // SEM-105
  CreateWithStream("Things", v1::STREAM_VIEW_TYPE_NEW_IMAGE);
  for (int i = 0; i < 7; ++i) Put("Things", std::to_string(i), std::string(300'000, 'x'));
  auto iterator = Iterator(Latest("Things"), ShardIteratorType::kTrimHorizon);
  ASSERT_TRUE(iterator.ok());
  std::vector<size_t> pages;
  std::string next = *iterator;
  for (int i = 0; i < 3; ++i) {
    auto reply = Get(next);
    ASSERT_TRUE(reply.ok());
    pages.push_back(reply->events.size());
    next = reply->next_shard_iterator;
  }
  EXPECT_THAT(pages, ElementsAre(3, 3, 1));
  for (int64_t limit : {1, 2}) {
    auto reply = Get(*iterator, limit);
    ASSERT_TRUE(reply.ok());
    EXPECT_THAT(reply->events, SizeIs(limit));
  }
  for (int64_t limit : {-1, 0, 1'001}) EXPECT_THAT(Get(*iterator, limit).status(), IsInvalid("1 to 1000"));
}

TEST_F(Streams, AreListedByTableAndLabelInPages) {  // SEM-106
  for (const char* name : {"Beta", "Alpha", "Alpha2", "Gamma"}) CreateWithStream(name);
  ASSERT_TRUE(Update("Alpha", false).ok());
  ASSERT_TRUE(Update("Alpha", true, v1::STREAM_VIEW_TYPE_KEYS_ONLY).ok());
  std::vector<std::string> names;
  ListStreamsRequest request{.limit = 2};
  while (true) {
    auto reply = ListStreams(database_, request);
    ASSERT_TRUE(reply.ok()) << reply.status();
    for (const v1::Stream& stream : reply->streams) names.push_back(stream.table_name());
    if (!reply->more) break;
    request.exclusive_start_stream_arn = ArnOf(reply->streams.back());
  }
  EXPECT_THAT(names, ElementsAre("Alpha", "Alpha", "Alpha2", "Beta", "Gamma"));
  EXPECT_THAT(List("Alpha"), SizeIs(2));
  auto behind =
      ListStreams(database_, {.table_name = "Alpha", .exclusive_start_stream_arn = ArnOf(List("Alpha")[0])});
  ASSERT_TRUE(behind.ok());
  EXPECT_THAT(behind->streams, SizeIs(1));
  EXPECT_THAT(ListStreams(database_, {.table_name = "Nothing"}).status(), IsTableNotFound());
  EXPECT_THAT(ListStreams(database_, {.exclusive_start_stream_arn = "arn:x"}).status(),
              IsInvalid("StreamArn"));
  for (int64_t limit : {0, 101})
    EXPECT_THAT(ListStreams(database_, {.limit = limit}).status(), IsInvalid("1 to 100"));
}

TEST_F(Streams, NamesHaveTheLengthsOfTheService) {  // SEM-106
  CreateWithStream("Things");
  const v1::Stream stream = Latest("Things");
  EXPECT_THAT(stream.stream_label(), SizeIs(23));
  auto described = DescribeStream(database_, {.stream_arn = ArnOf(stream)});
  ASSERT_TRUE(described.ok()) << described.status();
  ASSERT_THAT(described->shards, SizeIs(1));
  EXPECT_THAT(described->shards[0].shard_id, SizeIs(37));
  EXPECT_THAT(described->shards[0].starting_sequence_number, SizeIs(21));
  EXPECT_THAT(described->shards[0].ending_sequence_number, IsEmpty());
  for (uint64_t sequence : {uint64_t{0}, uint64_t{9}, uint64_t{10}, UINT64_MAX}) {
    EXPECT_THAT(SequenceNumberOf(sequence), SizeIs(21));
    EXPECT_EQ(ParseSequenceNumber(SequenceNumberOf(sequence)).value_or(1), sequence);
  }
  EXPECT_LT(SequenceNumberOf(9), SequenceNumberOf(10));

  // A stream has one shard, which has no successor and no child.
  const std::string shard = described->shards[0].shard_id;
  for (const DescribeStreamRequest& request :
       {DescribeStreamRequest{.stream_arn = ArnOf(stream), .exclusive_start_shard_id = shard},
        DescribeStreamRequest{.stream_arn = ArnOf(stream), .children_of_shard_id = shard}}) {
    auto none = DescribeStream(database_, request);
    ASSERT_TRUE(none.ok()) << none.status();
    EXPECT_THAT(none->shards, IsEmpty());
  }
  // A start that is unknown has no shards behind it; children of an unknown shard are an error.
  auto none = DescribeStream(database_, {.stream_arn = ArnOf(stream), .exclusive_start_shard_id = "other"});
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_THAT(none->shards, IsEmpty());
  EXPECT_TRUE(absl::IsNotFound(
      DescribeStream(database_, {.stream_arn = ArnOf(stream), .children_of_shard_id = "other"}).status()));
  v1::Stream other = stream;
  other.set_stream_label("2000-01-01T00:00:00.000");
  EXPECT_TRUE(absl::IsNotFound(DescribeStream(database_, {.stream_arn = ArnOf(other)}).status()));
}

TEST(ShardIterators, ExpireAndAreBoundToTheirDatabase) {  // SEM-104
  const ShardPosition position{
      .table_name = "Things", .stream_label = "label", .after_sequence = 7, .made_ms = 1'000'000};
  const std::string text = EncodeShardIterator(position, "database");
  constexpr int64_t kMinuteMs = 60'000;
  auto decoded = DecodeShardIterator(text, "database", position.made_ms + 15 * kMinuteMs);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->table_name, "Things");
  EXPECT_EQ(decoded->stream_label, "label");
  EXPECT_EQ(decoded->after_sequence, 7u);
  EXPECT_FALSE(decoded->trim_horizon);
  absl::Status expired =
      DecodeShardIterator(text, "database", position.made_ms + 15 * kMinuteMs + 1).status();
  EXPECT_TRUE(absl::IsOutOfRange(expired)) << expired;
  EXPECT_EQ(ReasonOf(expired), kReasonExpiredIterator);

  EXPECT_THAT(DecodeShardIterator(text, "other", position.made_ms).status(), IsInvalid("ShardIterator"));
  for (size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_THAT(DecodeShardIterator(changed, "database", position.made_ms).status(),
                IsInvalid("ShardIterator"));
    EXPECT_THAT(DecodeShardIterator(text.substr(0, i), "database", position.made_ms).status(),
                IsInvalid("ShardIterator"));
  }
}

// Records that are trimmed from the log are trimmed from streams, and a stream without records disappears.
TEST(TrimmedStreams, SayWhatIsGone) {  // SEM-103
  TemporaryDirectory directory;
  auto options = TestDatabase::DefaultOptions(directory.path() + "/data");
  TestDatabase database(options);
  auto table = TableRequest("Things", false);
  table.set_stream_enabled(true);
  table.set_stream_view_type(v1::STREAM_VIEW_TYPE_KEYS_ONLY);
  database.CreateTable(table);
  for (const char* key : {"a", "b", "c"}) ASSERT_TRUE(database.Put("Things", {{"pk", S(key)}}).ok());
  const v1::Stream stream = ListStreams(database, {.table_name = "Things"})->streams[0];
  auto iterator = [&](ShardIteratorType type, const std::string& number) {
    return GetShardIterator(database, {.stream_arn = ArnOf(stream),
                                       .shard_id = ShardIdOf(stream),
                                       .type = type,
                                       .sequence_number = number});
  };
  auto get = [&](const std::string& iterator) {
    return Await<GetRecordsReply>(
        [&](auto done) { database->GetRecords({.shard_iterator = iterator}, std::move(done)); });
  };
  auto trim = [&](uint64_t oldest) {
    auto trimming = options;
    trimming.change_retention = std::chrono::milliseconds(1);
    trimming.change_trim_interval = std::chrono::milliseconds(2);
    database.Close();
    auto opened = Database::Open(trimming);
    ASSERT_TRUE(opened.ok());
    v1::ReadChangesRequest read;
    read.set_after_sequence(UINT64_MAX);
    for (int i = 0; i < 60'000; ++i) {
      auto reply =
          Await<v1::ReadChangesReply>([&](auto done) { (*opened)->ReadChanges(read, std::move(done)); });
      if (reply.ok() && reply->oldest_sequence() >= oldest) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    opened->reset();
    database.Reopen();
  };
  auto at_b = iterator(ShardIteratorType::kAtSequenceNumber, SequenceNumberOf(3));
  auto oldest = iterator(ShardIteratorType::kTrimHorizon, "");
  ASSERT_TRUE(at_b.ok() && oldest.ok());
  trim(4);
  EXPECT_GE(database->MeasureFigures().first_change, 4u);

  absl::Status gone = iterator(ShardIteratorType::kAfterSequenceNumber, SequenceNumberOf(2)).status();
  EXPECT_EQ(ReasonOf(gone), kReasonChangesTrimmed) << gone;
  EXPECT_EQ(ReasonOf(get(*at_b).status()), kReasonChangesTrimmed);
  // The oldest record that is kept by now.
  auto left = get(*oldest);
  ASSERT_TRUE(left.ok()) << left.status();
  ASSERT_THAT(left->events, SizeIs(1));
  EXPECT_EQ(Show(left->events[0].key), "pk=c");

  ASSERT_TRUE(DeleteTable(database, "Things").ok());
  database.CreateTable(TableRequest("Others", false));
  trim(6);
  EXPECT_THAT(ListStreams(database, {})->streams, IsEmpty());
  EXPECT_TRUE(absl::IsNotFound(get(*oldest).status()));
  EXPECT_THAT(ListStreams(database, {.table_name = "Things"}).status(), IsTableNotFound());
}

}  // namespace
}  // namespace itemdb::testing
