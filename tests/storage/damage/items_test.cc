// Items in a block that cannot be read: scans that skip them, the list of damage, and discarding them.
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "itemdb/v1/data.pb.h"
#include "tests/storage/engine/recovery_fixture.h"
#include "tests/support/live_index.h"
#include "tests/support/statistics.h"

namespace itemdb::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

wire::PageRequest ScanRequest(bool skip_damage) {
  wire::PageRequest request;
  request.set_table_name(kOrderTable);
  request.set_skip_damage(skip_damage);
  return request;
}

std::string OrderKey(const std::string& pk) { return Encode({{"pk", S(pk)}, {"sk", S("#")}}); }

// The partition key of an encoded item.
std::string PartitionKeyOf(const std::string& encoded_item) {
  v1::Item item;
  EXPECT_TRUE(item.ParseFromString(encoded_item));
  for (const v1::Attribute& attribute : item.attributes()) {
    if (attribute.name() == "pk") return attribute.value().s();
  }
  return "";
}

class DamagedItems : public DamagedFilesTest {
 protected:
  // Large items in one table file, a block in the middle of it damaged.
  void Open() {
    MakeLargeItemsInTableFiles();
    file_ = FilesOf("items").at(0);
    Flip(PathOf(file_), DataBytes(file_) / 2);
    Reopen();
    for (int i = 1; i <= items_; ++i) {
      const std::string pk = "order-" + std::to_string(i);
      (Get(pk).ok() ? readable_ : lost_).insert(pk);
    }
    ASSERT_GE(lost_.size(), 1u);
    ASSERT_LE(lost_.size(), 8u);
  }
  void Reopen() {
    database_.reset();
    auto database = Database::Open(Options());
    ASSERT_TRUE(database.ok()) << database.status();
    database_ = *std::move(database);
  }

  absl::StatusOr<wire::GetItemReply> Get(const std::string& pk) {
    wire::GetItemRequest request;
    request.set_table_name(kOrderTable);
    request.set_key(OrderKey(pk));
    return Await<wire::GetItemReply>([&](auto done) { database_->GetItem(request, std::move(done)); });
  }
  absl::StatusOr<wire::WriteItemReply> PutOrder(const std::string& pk) {
    wire::WriteItemRequest request;
    request.set_table_name(kOrderTable);
    request.set_key_or_item(Encode({{"pk", S(pk)}, {"sk", S("#")}, {"status", S("NEW")}}));
    return Await<wire::WriteItemReply>([&](auto done) { database_->PutItem(request, std::move(done)); });
  }
  absl::StatusOr<v1::DiscardDamagedItemReply> Discard(const std::string& pk) {
    v1::DiscardDamagedItemRequest request;
    request.set_table_name(kOrderTable);
    EXPECT_TRUE(request.mutable_key()->ParseFromString(OrderKey(pk)));
    return Await<v1::DiscardDamagedItemReply>(
        [&](auto done) { database_->DiscardDamagedItem(request, std::move(done)); });
  }
  absl::StatusOr<Page> ScanPage(const wire::PageRequest& request) {
    return Await<Page>([&](auto done) { database_->Scan(request, std::move(done)); });
  }
  v1::ListDamageReply ListDamage() {
    auto reply = Await<v1::ListDamageReply>([&](auto done) { database_->ListDamage({}, std::move(done)); });
    EXPECT_TRUE(reply.ok()) << reply.status();
    return reply.ok() ? *std::move(reply) : v1::ListDamageReply();
  }

  struct Scanned {
    // In the order of the pages.
    std::vector<std::string> partition_keys;
    // The places of all pages.
    std::vector<wire::SkippedDamage> skipped;
  };
  // All pages of a scan that skips damage.
  Scanned ScanAll(int32_t limit) {
    Scanned scanned;
    wire::PageRequest request = ScanRequest(/*skip_damage=*/true);
    if (limit > 0) request.set_limit(limit);
    for (int pages = 0; pages < 1'000; ++pages) {
      const auto page = ScanPage(request);
      EXPECT_TRUE(page.ok()) << page.status();
      if (!page.ok()) return scanned;
      v1::ScanReply items;
      EXPECT_TRUE(items.ParseFromString(page->encoded_items));
      for (const v1::Item& item : items.items())
        scanned.partition_keys.push_back(PartitionKeyOf(item.SerializeAsString()));
      scanned.skipped.insert(scanned.skipped.end(), page->reply.skipped_damage().begin(),
                             page->reply.skipped_damage().end());
      if (!page->reply.has_last_evaluated_key()) return scanned;
      request.set_exclusive_start_key(page->reply.last_evaluated_key());
    }
    ADD_FAILURE() << "the scan did not end";
    return scanned;
  }

  std::string file_;
  std::unique_ptr<Database> database_;
  // Partition keys, in the order of keys.
  std::set<std::string> readable_;
  std::set<std::string> lost_;
};

TEST_F(DamagedItems, AreSkippedByAScanThatAsksForItWhichSaysWhere) {
  Open();
  if (HasFatalFailure()) return;
  EXPECT_EQ(ScanPage(ScanRequest(false)).status().code(), absl::StatusCode::kDataLoss);
  for (const int32_t limit : {0, 1, 7, 1'000}) {
    SCOPED_TRACE(limit);
    const Scanned scanned = ScanAll(limit);
    EXPECT_EQ(scanned.partition_keys, std::vector<std::string>(readable_.begin(), readable_.end()));
    ASSERT_GE(scanned.skipped.size(), 1u);
    for (const wire::SkippedDamage& skipped : scanned.skipped) {
      EXPECT_EQ(PartitionKeyOf(skipped.before_key()), *readable_.upper_bound(*lost_.rbegin()));
      // A page that begins behind the key before has none.
      if (!skipped.has_after_key()) continue;
      EXPECT_EQ(PartitionKeyOf(skipped.after_key()), *std::prev(readable_.lower_bound(*lost_.begin())));
    }
  }
}

TEST_F(DamagedItems, AtTheEndOfATableAreSkippedToo) {
  MakeLargeItemsInTableFiles();
  file_ = FilesOf("items").at(0);
  Flip(PathOf(file_), DataBytes(file_) - 20);
  Reopen();
  const Scanned scanned = ScanAll(0);
  EXPECT_LT(scanned.partition_keys.size(), static_cast<size_t>(items_));
  EXPECT_GE(scanned.partition_keys.size(), static_cast<size_t>(items_ - 8));
  ASSERT_EQ(scanned.skipped.size(), 1u);
  EXPECT_EQ(PartitionKeyOf(scanned.skipped[0].after_key()), scanned.partition_keys.back());
  EXPECT_FALSE(scanned.skipped[0].has_before_key());
}

// The block has no newer version of an item that was written after it was.
TEST_F(DamagedItems, WrittenAfterTheDamageAreInAScanThatSkips) {
  Open();
  if (HasFatalFailure()) return;
  const std::string between = *lost_.begin() + "a";  // Between two keys of the block, or behind its only one.
  ASSERT_TRUE(PutOrder(between).ok());
  readable_.insert(between);
  EXPECT_EQ(ScanAll(0).partition_keys, std::vector<std::string>(readable_.begin(), readable_.end()));
  Reopen();  // From the memtable to a table file.
  EXPECT_EQ(ScanAll(3).partition_keys, std::vector<std::string>(readable_.begin(), readable_.end()));
}

// The damaged block has the newer version, or a deletion: the older one, in another file, would be wrong.
TEST_F(DamagedItems, DoNotComeBackAsTheyWereBefore) {
  MakeLargeItemsInTableFiles();
  const std::string older = FilesOf("items").at(0);
  Reopen();
  for (int i = 1; i <= items_; ++i) ASSERT_TRUE(Put(*database_, i, 3'000 + i).ok());
  Reopen();  // Writes the log to a second file.
  database_.reset();
  for (const std::string& file : FilesOf("items")) {
    if (file == older) continue;
    file_ = file;
    Flip(PathOf(file), DataBytes(file) / 2);
  }
  ASSERT_NE(file_, "");
  Reopen();
  const Scanned scanned = ScanAll(0);
  EXPECT_GE(scanned.skipped.size(), 1u);
  EXPECT_LT(scanned.partition_keys.size(), static_cast<size_t>(items_));
  for (const std::string& pk : scanned.partition_keys) EXPECT_TRUE(Get(pk).ok()) << pk;
}

TEST_F(DamagedItems, AreNotSkippedBackwardsOrInSegments) {
  Open();
  if (HasFatalFailure()) return;
  wire::PageRequest segment = ScanRequest(true);
  segment.set_segment(0);
  segment.set_total_segments(2);
  EXPECT_THAT(MessageOf(ScanPage(segment).status()), HasSubstr("skip_damage"));
  wire::PageRequest backwards = ScanRequest(true);
  backwards.set_key_condition_expression("pk = :p");
  SetValue(&backwards, ":p", S("order-1"));
  backwards.set_scan_index_forward(false);
  const auto page = Await<Page>([&](auto done) { database_->Query(backwards, std::move(done)); });
  EXPECT_THAT(MessageOf(page.status()), HasSubstr("skip_damage"));
}

// An index without them would be wrong without saying so.
TEST_F(DamagedItems, KeepANewIndexFromBeingMadeWhichSaysWhatShowsThem) {
  Open();
  if (HasFatalFailure()) return;
  const auto created =
      UpdateTable(*database_, CreateIndexRequest(kOrderTable, "ByPadding", {"padding:S"}, 1));
  ASSERT_TRUE(created.ok()) << created.status();
  std::string error;
  EXPECT_TRUE(Await([&] {
    v1::DescribeTableRequest request;
    request.set_table_name(kOrderTable);
    const auto described = database_->DescribeTable(request);
    if (!described.ok()) return false;
    for (const auto& index : described->table().global_secondary_indexes()) {
      if (index.index_name() != "ByPadding") continue;
      EXPECT_EQ(index.index_status(), v1::TABLE_STATUS_CREATING);
      error = index.build().last_error();
    }
    return !error.empty();
  }));
  EXPECT_THAT(error, AllOf(HasSubstr(std::string("cannot read table ") + kOrderTable), HasSubstr(file_),
                           HasSubstr("'itemctl damage list'")));
}

TEST_F(DamagedItems, AreListedOnceTheyWereMet) {
  Open();
  if (HasFatalFailure()) return;
  const v1::ListDamageReply list = ListDamage();
  ASSERT_EQ(list.files_size(), 1) << list.DebugString();
  const v1::DamagedFile& file = list.files(0);
  EXPECT_EQ(file.name(), file_);
  EXPECT_EQ(file.family(), "items");
  EXPECT_EQ(file.owner(), std::string("table ") + kOrderTable);
  EXPECT_EQ(file.met_by(), "read");
  EXPECT_EQ(file.size_bytes(), static_cast<int64_t>(fs::file_size(PathOf(file_))));
  ASSERT_EQ(file.ranges_size(), 1);
  EXPECT_EQ(file.ranges(0).table_name(), kOrderTable);
  EXPECT_EQ(PartitionKeyOf(file.ranges(0).after_key().SerializeAsString()),
            *std::prev(readable_.lower_bound(*lost_.begin())));
  EXPECT_EQ(PartitionKeyOf(file.ranges(0).before_key().SerializeAsString()),
            *readable_.upper_bound(*lost_.rbegin()));
  EXPECT_EQ(database_->GetStatus().damage().files(), 1);
  EXPECT_EQ(database_->GetStatus().damage().blocks(), 1);
  // Nothing has met it yet.
  Reopen();
  EXPECT_EQ(database_->GetStatus().damage().files(), 0);
}

TEST_F(DamagedItems, AreLoggedOnceWithWhatToDo) {
  Open();
  if (HasFatalFailure()) return;
  EXPECT_TRUE(Await([&] { return log_.str().find("damage: a block") != std::string::npos; }));
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(Get(*lost_.begin()).ok());
  database_.reset();  // Logs what is new.
  const std::string log = log_.str();
  const size_t at = log.find("damage: a block");
  ASSERT_NE(at, std::string::npos) << log;
  EXPECT_EQ(log.find("damage: a block", at + 1), std::string::npos) << log;
  EXPECT_THAT(log,
              AllOf(HasSubstr("file=" + file_), HasSubstr("met_by=read"), HasSubstr("itemctl damage list")));
}

// The check does not end at the first damage, and counts nothing that it cannot read.
TEST_F(DamagedItems, AreFindingsOfACheckWhichRepairsNoCount) {
  Open();
  if (HasFatalFailure()) return;
  const v1::GetStatusReply before = StatusWithTables(*database_);
  for (const bool repair : {false, true}) {
    SCOPED_TRACE(repair);
    v1::CheckDatabaseRequest request;
    request.set_repair(repair);
    const auto check =
        Await<v1::CheckDatabaseReply>([&](auto done) { database_->CheckDatabase(request, std::move(done)); });
    ASSERT_TRUE(check.ok()) << check.status();
    ASSERT_EQ(check->findings_size(), 1) << check->DebugString();
    EXPECT_THAT(check->findings(0), AllOf(HasSubstr(std::string("table ") + kOrderTable),
                                          HasSubstr("records behind the key"), HasSubstr("cannot be read")));
    EXPECT_EQ(check->items_checked(), static_cast<int64_t>(readable_.size()));
    // Nothing else has met it since.
    EXPECT_EQ(ListDamage().files_size(), 1);
    Reopen();
    EXPECT_EQ(ListDamage().files_size(), 0);
  }
  EXPECT_EQ(StatusWithTables(*database_).tables(0).item_count(), before.tables(0).item_count());
  EXPECT_EQ(StatusWithTables(*database_).tables(0).item_bytes(), before.tables(0).item_bytes());
}

TEST_F(DamagedItems, CanBeDiscardedAndWrittenAgain) {
  Open();
  if (HasFatalFailure()) return;
  int64_t items = StatusWithTables(*database_).tables(0).item_count();
  for (const std::string& pk : lost_) {
    SCOPED_TRACE(pk);
    EXPECT_EQ(PutOrder(pk).status().code(), absl::StatusCode::kDataLoss);
    const auto discarded = Discard(pk);
    ASSERT_TRUE(discarded.ok()) << discarded.status();
    EXPECT_GE(discarded->index_entries_deleted(), 2);
    EXPECT_EQ(StatusWithTables(*database_).tables(0).item_count(), --items);
    const auto gone = Get(pk);
    ASSERT_TRUE(gone.ok()) << gone.status();
    EXPECT_EQ(gone->item(), "");

    v1::ReadChangesRequest changes;
    changes.set_after_sequence(discarded->change_sequence() - 1);
    const auto log =
        Await<v1::ReadChangesReply>([&](auto done) { database_->ReadChanges(changes, std::move(done)); });
    ASSERT_TRUE(log.ok() && log->records_size() == 1) << log.status();
    EXPECT_EQ(log->records(0).kind(), v1::CHANGE_KIND_REMOVE);
    EXPECT_TRUE(log->records(0).discarded());
    EXPECT_FALSE(log->records(0).has_old_image());
    EXPECT_EQ(log->records(0).key().SerializeAsString(), OrderKey(pk));

    EXPECT_THAT(MessageOf(Discard(pk).status()), HasSubstr("has no item"));
  }
  const std::string again = *lost_.begin();
  ASSERT_TRUE(PutOrder(again).ok());
  EXPECT_THAT(MessageOf(Discard(again).status()), HasSubstr("DeleteItem"));
  Reopen();
  EXPECT_THAT(Show(Get(again)->item()), HasSubstr("status=NEW"));
  readable_.insert(again);
  EXPECT_EQ(ScanAll(0).partition_keys, std::vector<std::string>(readable_.begin(), readable_.end()));
}

// An index entry of a discarded item would belong to no item.
TEST_F(DamagedItems, LeaveNoIndexEntryWhenTheyAreDiscarded) {
  Open();
  if (HasFatalFailure()) return;
  const auto entries = [&] {
    std::set<std::string> keys;
    wire::PageRequest request = ScanRequest(false);
    request.set_index_name(OrderTableRequest().global_secondary_indexes(0).index_name());
    const auto page = ScanPage(request);
    EXPECT_TRUE(page.ok()) << page.status();
    v1::ScanReply items;
    EXPECT_TRUE(items.ParseFromString(page->encoded_items));
    for (const v1::Item& item : items.items()) keys.insert(PartitionKeyOf(item.SerializeAsString()));
    return keys;
  };
  EXPECT_EQ(entries().size(), static_cast<size_t>(items_));
  for (const std::string& pk : lost_) ASSERT_TRUE(Discard(pk).ok());
  EXPECT_EQ(entries(), readable_);
}

TEST_F(DamagedItems, ThatAreNotDamagedAreNotDiscarded) {
  Open();
  if (HasFatalFailure()) return;
  const auto readable = Discard(*readable_.begin());
  EXPECT_EQ(readable.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(MessageOf(readable.status()), HasSubstr("DeleteItem"));
  EXPECT_TRUE(Get(*readable_.begin()).ok());
  EXPECT_THAT(MessageOf(Discard("nobody").status()), HasSubstr("has no item"));
}

}  // namespace
}  // namespace itemdb::testing
