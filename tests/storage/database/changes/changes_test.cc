// The change log: one record for every changed item, in commit order, without gaps.

#include "tests/storage/database/requests.h"

namespace itemdb::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// For example "kind key old -> new".
std::string ShowRecord(const v1::ChangeRecord& record) {
  std::string text = v1::ChangeKind_Name(record.kind()).substr(std::string("CHANGE_KIND_").size());
  if (record.has_table()) return text + " " + record.table().table_name();
  text += " " + Show(record.key());
  if (record.has_old_image() || record.has_new_image()) text += ":";
  if (record.has_old_image()) text += " " + Show(record.old_image());
  if (record.has_new_image()) text += " -> " + Show(record.new_image());
  return text;
}

class ChangeLog : public ::testing::Test {
 protected:
  absl::StatusOr<v1::ReadChangesReply> Read(uint64_t after, int limit) {
    v1::ReadChangesRequest request;
    request.set_after_sequence(after);
    request.set_limit(limit);
    return Await<v1::ReadChangesReply>([&](auto done) { database_->ReadChanges(request, std::move(done)); });
  }

  TestDatabase database_;
};

TEST_F(ChangeLog, CarriesTheImagesThatTheTableAsksFor) {  // SEM-101, SEM-102
  struct Row {
    v1::StreamViewType view;
    std::vector<std::string> records;
  };
  const Row rows[] = {
      {v1::STREAM_VIEW_TYPE_UNSPECIFIED, {"INSERT pk=p", "MODIFY pk=p", "MODIFY pk=p", "REMOVE pk=p"}},
      {v1::STREAM_VIEW_TYPE_KEYS_ONLY, {"INSERT pk=p", "MODIFY pk=p", "MODIFY pk=p", "REMOVE pk=p"}},
      {v1::STREAM_VIEW_TYPE_NEW_IMAGE,
       {"INSERT pk=p: -> a=1 pk=p", "MODIFY pk=p: -> a=2 pk=p", "MODIFY pk=p: -> b=x pk=p", "REMOVE pk=p"}},
      {v1::STREAM_VIEW_TYPE_OLD_IMAGE,
       {"INSERT pk=p", "MODIFY pk=p: a=1 pk=p", "MODIFY pk=p: a=2 pk=p", "REMOVE pk=p: b=x pk=p"}},
      {v1::STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES,
       {"INSERT pk=p: -> a=1 pk=p", "MODIFY pk=p: a=1 pk=p -> a=2 pk=p", "MODIFY pk=p: a=2 pk=p -> b=x pk=p",
        "REMOVE pk=p: b=x pk=p"}}};
  uint64_t before = 0;
  for (const Row& row : rows) {
    std::string name = "table" + std::to_string(before);
    SCOPED_TRACE(v1::StreamViewType_Name(row.view));
    auto table = TableRequest(name, /*sorted=*/false);
    table.set_stream_view_type(row.view);
    auto created = CreateTable(database_, table);
    ASSERT_TRUE(created.ok()) << created.status();
    ASSERT_TRUE(database_.Put(name, {{"pk", S("p")}, {"a", N("1")}}).ok());
    ASSERT_TRUE(
        database_.Update(UpdateRequest(name, {{"pk", S("p")}}, "ADD a :one", {{":one", N("1")}})).ok());
    ASSERT_TRUE(database_.Put(name, {{"pk", S("p")}, {"b", S("x")}}).ok());
    ASSERT_TRUE(database_.Put(name, {{"pk", S("p")}, {"b", S("x")}}).ok());  // Changes nothing.
    ASSERT_TRUE(database_.Delete(name, {{"pk", S("p")}}).ok());
    ASSERT_TRUE(database_.Delete(name, {{"pk", S("p")}}).ok());  // Changes nothing either.
    auto reply = database_.ReadChanges(before + 1);
    ASSERT_TRUE(reply.ok()) << reply.status();
    std::vector<std::string> records;
    for (const auto& record : reply->records()) {
      EXPECT_EQ(record.table_storage_id(), created->table().storage_id());
      records.push_back(ShowRecord(record));
    }
    EXPECT_EQ(records, row.records);
    before += 5;
  }
  database_.CheckIsClean();
}

TEST_F(ChangeLog, NumbersEveryChangeDenselyAcrossTablesAndStarts) {
  database_.CreateTable(TableRequest("One", false));
  database_.CreateTable(TableRequest("Two", false));
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(
        database_.Put(i % 2 == 0 ? "One" : "Two", {{"pk", S("p")}, {"a", N(std::to_string(i))}}).ok());
    if (i == 2) database_.Reopen();
  }
  ASSERT_TRUE(DeleteTable(database_, "One").ok());
  auto records = Changes(database_);
  ASSERT_THAT(records, SizeIs(8));
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].change_sequence(), i + 1);
    EXPECT_EQ(records[i].commit_first_sequence(), i + 1);
    EXPECT_EQ(records[i].commit_last_sequence(), i + 1);
    EXPECT_GE(records[i].commit_time_us(), records[i == 0 ? 0 : i - 1].commit_time_us());
  }
  EXPECT_EQ(ShowRecord(records[0]), "CREATE_TABLE One");
  EXPECT_EQ(ShowRecord(records[1]), "CREATE_TABLE Two");
  EXPECT_EQ(ShowRecord(records[7]), "DELETE_TABLE One");
  EXPECT_EQ(records[7].table_storage_id(), records[0].table_storage_id());
  EXPECT_EQ(records[7].table().table_id(), records[0].table().table_id());
  database_.CheckIsClean();
}

TEST_F(ChangeLog, PagesNeverSplitACommit) {
  database_.CreateTable(TableRequest("Things", false));
  ASSERT_TRUE(database_.Put("Things", {{"pk", S("single")}}).ok());
  wire::TransactWriteItemsRequest transaction;
  for (int i = 0; i < 4; ++i)
    *transaction.add_transact_items()->mutable_put() = WriteRequest("Things", {{"pk", S(std::to_string(i))}});
  ASSERT_TRUE(database_.Transact(transaction)->has_committed());
  ASSERT_TRUE(database_.Put("Things", {{"pk", S("last")}}).ok());
  // The changes: 1 creates the table, 2 is a put, 3 to 6 the transaction, 7 a put.
  struct Row {
    uint64_t after;
    int limit, records;
  };
  const Row rows[] = {{0, 1, 1}, {0, 2, 2}, {0, 3, 6}, {0, 6, 6}, {0, 7, 7},
                      {2, 1, 4}, {2, 4, 4}, {2, 5, 5}, {6, 1, 1}, {7, 1, 0}};
  for (const Row& row : rows) {
    SCOPED_TRACE("after " + std::to_string(row.after) + ", limit " + std::to_string(row.limit));
    auto reply = Read(row.after, row.limit);
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(reply->records_size(), row.records);
    EXPECT_EQ(reply->change_sequence(), 7u);
    for (int i = 0; i < row.records; ++i) {
      EXPECT_EQ(reply->records(i).change_sequence(), row.after + 1 + static_cast<uint64_t>(i));
    }
  }
  for (int limit : {0, -1, 1001}) EXPECT_THAT(Read(0, limit).status(), IsInvalid("1 to 1000"));
}

TEST_F(ChangeLog, APageEndsAtAMebibyte) {  // SEM-105
  auto table = TableRequest("Things", false);
  table.set_stream_view_type(v1::STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES);
  database_.CreateTable(table);
  for (int i = 0; i < 6; ++i)
    ASSERT_TRUE(
        database_.Put("Things", {{"pk", S("p")}, {"x", S(std::string(300'000, static_cast<char>('a' + i)))}})
            .ok());
  auto reply = database_.ReadChanges(1);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->records_size(), 3);  // Together 0.3, 0.9, 1.5 MB.
  EXPECT_THAT(Changes(database_), SizeIs(7));
}

TEST_F(ChangeLog, AReaderAheadOfItGetsNothing) {
  database_.CreateTable(TableRequest("Things", false));
  for (uint64_t after : {uint64_t{1}, uint64_t{2}, uint64_t{1} << 63, UINT64_MAX}) {
    SCOPED_TRACE(after);
    auto reply = database_.ReadChanges(after);
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_THAT(reply->records(), IsEmpty());
    EXPECT_EQ(reply->change_sequence(), 1u);
  }
}

TEST_F(ChangeLog, OfAnEmptyDatabaseIsEmpty) {
  auto reply = database_.ReadChanges(0);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_THAT(reply->records(), IsEmpty());
  EXPECT_EQ(reply->change_sequence(), 0u);
  database_.CheckIsClean();
}

// In relaxed mode a change is visible in the log once it is on disk, so that its sequence cannot be reused.
TEST(RelaxedChangeLog, ShowsWhatIsDurable) {
  TemporaryDirectory directory;
  auto options = TestDatabase::DefaultOptions(directory.path() + "/data");
  options.durable = false;
  TestDatabase database(options);
  database.CreateTable(TableRequest("Things", false));
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(database.Put("Things", {{"pk", S(std::to_string(i))}}).ok());
    auto reply = database.ReadChanges(0);
    ASSERT_TRUE(reply.ok());
    EXPECT_EQ(reply->change_sequence(), static_cast<uint64_t>(reply->records_size()));
    EXPECT_LE(reply->records_size(), i + 2);
  }
  database.Reopen();
  EXPECT_THAT(Changes(database), SizeIs(21));
  database.CheckIsClean();
}

}  // namespace
}  // namespace itemdb::testing
