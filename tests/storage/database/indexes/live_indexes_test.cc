// Global indexes that are created on and deleted from a live table (SEM-088, SEM-095 to SEM-097, OP-05).
#include <filesystem>
#include <thread>

#include "storage/base/limits.h"
#include "tests/storage/database/requests.h"
#include "tests/storage/engine/gate_file_system.h"
#include "tests/support/live_index.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr auto kCreating = v1::TABLE_STATUS_CREATING;

MATCHER_P(IsLimitExceeded, text, "") {
  const absl::Status& status = arg;
  *result_listener << status.ToString();
  return absl::IsResourceExhausted(status) && ReasonOf(status) == kReasonLimitExceeded &&
         MessageOf(status).find(text) != std::string::npos;
}

class LiveIndexes : public ::testing::Test {
 protected:
  LiveIndexes() { database_.CreateTable(TableRequest("Things")); }

  static DatabaseOptions Gated(const std::string& directory, std::shared_ptr<rocksdb::FileSystem> gate) {
    DatabaseOptions options = TestDatabase::DefaultOptions(directory);
    options.file_system = std::move(gate);
    return options;
  }
  absl::StatusOr<v1::UpdateTableReply> Update(const v1::UpdateTableRequest& request) {
    return UpdateTable(*database_, request);
  }
  // Creates ByGroup, sorted by rank, with all attributes.
  absl::Status CreateByGroup() {
    return Update(CreateIndexRequest("Things", "ByGroup", {"grp:S", "rank:N"}, 1)).status();
  }
  absl::Status Put(const std::string& sk, const v1::AttributeValue& group, const std::string& rank = "1") {
    return database_.Put("Things", {{"pk", S("p")}, {"sk", S(sk)}, {"grp", group}, {"rank", N(rank)}})
        .status();
  }
  std::vector<std::string> ScanIndex(const std::string& index) {
    wire::PageRequest request = ScanRequest("Things");
    request.set_index_name(index);
    return ScanAll(database_, request);
  }
  // Opens the gate, because closing the database waits for the file that is being written.
  void TearDown() override { gate_->Open(); }

  TemporaryDirectory directory_;
  // While it is shut, a build stops when its entries are sorted and not yet in the index.
  std::shared_ptr<GateFileSystem> gate_ = std::make_shared<GateFileSystem>(
      rocksdb::FileSystem::Default(),
      [](const std::string& path) { return path.find("/builds/") != std::string::npos; });
  TestDatabase database_{Gated(directory_.path() + "/data", gate_)};
};

TEST_F(LiveIndexes, HoldEveryItemThatHasTheirKey) {  // SEM-069
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(Put(std::to_string(1000 + i), S("g"), std::to_string(i)).ok());
  ASSERT_TRUE(database_.Put("Things", {{"pk", S("p")}, {"sk", S("sparse")}, {"grp", S("g")}}).ok());
  ASSERT_TRUE(CreateByGroup().ok());
  AwaitIndexes(*database_, "Things");
  auto query = QueryRequest("Things", "grp = :g AND #rank >= :r", {{":g", S("g")}, {":r", N("298")}});
  SetName(&query, "#rank", "rank");
  query.set_index_name("ByGroup");
  EXPECT_THAT(QueryAll(database_, query),
              ElementsAre("grp=g pk=p rank=298 sk=1298", "grp=g pk=p rank=299 sk=1299"));
  const v1::TableDescription table = Describe(database_, "Things");
  EXPECT_EQ(table.table_status(), v1::TABLE_STATUS_ACTIVE);
  EXPECT_EQ(table.global_secondary_indexes(0).item_count(), 300);
  EXPECT_EQ(table.global_secondary_indexes(0).skipped_items(), 0);
  database_.CheckIsClean();
  database_.Reopen();
  EXPECT_THAT(ScanIndex("ByGroup"), SizeIs(300));
  database_.CheckIsClean();
}

TEST_F(LiveIndexes, OfAnEmptyTableAreEmpty) {
  ASSERT_TRUE(CreateByGroup().ok());
  AwaitIndexes(*database_, "Things");
  EXPECT_THAT(ScanIndex("ByGroup"), IsEmpty());
  ASSERT_TRUE(Put("1", S("g")).ok());
  EXPECT_THAT(ScanIndex("ByGroup"), SizeIs(1));
  database_.CheckIsClean();
}

TEST_F(LiveIndexes, LeaveOutItemsThatCannotBeInThemAndCountThem) {  // SEM-097
  ASSERT_TRUE(Put("good", S("g")).ok());
  ASSERT_TRUE(Put("number", N("7")).ok());
  ASSERT_TRUE(Put("empty", S("")).ok());
  ASSERT_TRUE(Put("long", S(std::string(kMaxPartitionKeyBytes + 1, 'x'))).ok());
  ASSERT_TRUE(CreateByGroup().ok());
  AwaitIndexes(*database_, "Things");
  EXPECT_THAT(ScanIndex("ByGroup"), ElementsAre("grp=g pk=p rank=1 sk=good"));
  EXPECT_EQ(Describe(database_, "Things").global_secondary_indexes(0).skipped_items(), 3);
  database_.CheckIsClean();
  // Such items can be read, corrected and deleted.
  EXPECT_TRUE(Put("number", S("g"), "2").ok());
  EXPECT_TRUE(database_.Delete("Things", {{"pk", S("p")}, {"sk", S("empty")}}).ok());
  EXPECT_THAT(ScanIndex("ByGroup"), SizeIs(2));
  database_.CheckIsClean();
}

TEST_F(LiveIndexes, CannotBeReadWhileTheyAreFilledButHoldWritesToTheirKey) {  // SEM-070, SEM-097
  ASSERT_TRUE(Put("1", S("old"), "1").ok());
  ASSERT_TRUE(Put("2", S("old"), "2").ok());
  ASSERT_TRUE(Put("3", N("3")).ok());
  ASSERT_TRUE(Put("4", N("4")).ok());
  gate_->Shut();
  auto created = Update(CreateIndexRequest("Things", "ByGroup", {"grp:S", "rank:N"}, 1));
  ASSERT_TRUE(created.ok()) << created.status();
  gate_->AwaitWaiting();
  for (const v1::TableDescription& table : {created->table(), Describe(database_, "Things")}) {
    EXPECT_EQ(table.table_status(), v1::TABLE_STATUS_UPDATING);
    EXPECT_EQ(table.global_secondary_indexes(0).index_status(), kCreating);
    EXPECT_TRUE(table.global_secondary_indexes(0).backfilling());
    EXPECT_EQ(table.global_secondary_indexes(0).item_count(), 0);
  }
  const v1::IndexBuild build = Describe(database_, "Things").global_secondary_indexes(0).build();
  EXPECT_EQ(build.phase(), v1::IndexBuild::PHASE_WRITING);
  EXPECT_EQ(build.total(), 2);
  EXPECT_EQ(build.skipped_items(), 2);

  wire::PageRequest scan = ScanRequest("Things");
  scan.set_index_name("ByGroup");
  EXPECT_THAT(database_.Scan(scan).status(),
              IsInvalid("Cannot read from backfilling global secondary index: ByGroup"));
  EXPECT_THAT(Put("5", N("5")), IsInvalid("Type mismatch for Index Key grp Expected: S Actual: N"));
  EXPECT_THAT(Update(CreateIndexRequest("Things", "Other", {"grp:S"}, 1)).status(),
              IsLimitExceeded("Only 1 online index can be created or deleted simultaneously per table"));

  EXPECT_TRUE(Put("1", S("new"), "1").ok());
  EXPECT_TRUE(database_.Delete("Things", {{"pk", S("p")}, {"sk", S("2")}}).ok());
  EXPECT_TRUE(Put("3", S("new"), "3").ok());
  EXPECT_TRUE(Put("6", S("new"), "6").ok());
  EXPECT_TRUE(Put("7", S("new"), "7").ok());
  EXPECT_TRUE(database_.Delete("Things", {{"pk", S("p")}, {"sk", S("7")}}).ok());
  gate_->Open();
  AwaitIndexes(*database_, "Things");
  EXPECT_THAT(ScanIndex("ByGroup"), ElementsAre("grp=new pk=p rank=1 sk=1", "grp=new pk=p rank=3 sk=3",
                                                "grp=new pk=p rank=6 sk=6"));
  EXPECT_EQ(Describe(database_, "Things").global_secondary_indexes(0).skipped_items(), 1);
  database_.CheckIsClean();
}

TEST_F(LiveIndexes, AreDeletedWithTheirConstraint) {  // SEM-088
  ASSERT_TRUE(CreateByGroup().ok());
  AwaitIndexes(*database_, "Things");
  EXPECT_THAT(Put("1", N("1")), IsInvalid("Type mismatch"));
  auto deleted = Update(DeleteIndexRequest("Things", "ByGroup"));
  ASSERT_TRUE(deleted.ok()) << deleted.status();
  EXPECT_EQ(deleted->table().table_status(), v1::TABLE_STATUS_UPDATING);
  EXPECT_EQ(deleted->table().global_secondary_indexes(0).index_status(), v1::TABLE_STATUS_DELETING);
  const v1::TableDescription table = Describe(database_, "Things");
  EXPECT_EQ(table.table_status(), v1::TABLE_STATUS_ACTIVE);
  EXPECT_EQ(table.global_secondary_indexes_size(), 0);
  EXPECT_EQ(table.attribute_definitions_size(), 2) << "grp and rank are in no key any more";
  EXPECT_TRUE(Put("1", N("1")).ok());
  wire::PageRequest scan = ScanRequest("Things");
  scan.set_index_name("ByGroup");
  EXPECT_THAT(database_.Scan(scan).status(), IsInvalid("does not have the specified index: ByGroup"));
  database_.CheckIsClean();
  database_.Reopen();
  database_.CheckIsClean();
  EXPECT_EQ(Describe(database_, "Things").global_secondary_indexes_size(), 0);
}

TEST_F(LiveIndexes, CanBeDeletedWhileTheyAreFilled) {  // SEM-097
  ASSERT_TRUE(Put("1", S("g")).ok());
  gate_->Shut();
  ASSERT_TRUE(CreateByGroup().ok());
  gate_->AwaitWaiting();
  auto deleted = Update(DeleteIndexRequest("Things", "ByGroup"));
  ASSERT_TRUE(deleted.ok()) << deleted.status();
  EXPECT_TRUE(Put("2", N("2")).ok());
  gate_->Open();
  // The next build starts when the first is given up.
  ASSERT_TRUE(Update(CreateIndexRequest("Things", "ByGroup", {"grp:N"}, 1)).ok());
  AwaitIndexes(*database_, "Things");
  EXPECT_THAT(ScanIndex("ByGroup"), ElementsAre("grp=2 pk=p rank=1 sk=2"));
  EXPECT_EQ(Describe(database_, "Things").global_secondary_indexes(0).skipped_items(), 1);
  database_.CheckIsClean();
}

TEST_F(LiveIndexes, KeepTheirTableWhileTheyAreFilled) {  // VEC-08
  ASSERT_TRUE(Put("1", S("g")).ok());
  gate_->Shut();
  ASSERT_TRUE(CreateByGroup().ok());
  gate_->AwaitWaiting();
  const absl::Status refused = DeleteTable(database_, "Things").status();
  EXPECT_EQ(ReasonOf(refused), kReasonResourceInUse);
  EXPECT_EQ(MessageOf(refused),
            "Attempt to change a resource which is still in use: Cannot delete table while indexes are being "
            "created, updated, or deleted.");
  // Whoever does not want to wait deletes the index first.
  ASSERT_TRUE(Update(DeleteIndexRequest("Things", "ByGroup")).ok());
  ASSERT_TRUE(DeleteTable(database_, "Things").ok());
  gate_->Open();
  database_.CreateTable(TableRequest("Things"));
  ASSERT_TRUE(Put("2", N("2")).ok());
  database_.CheckIsClean();
  database_.Reopen();
  database_.CheckIsClean();
}

// As after kill -9: a copy of the directory during a backfill.
TEST_F(LiveIndexes, AreBegunAnewAfterACrash) {
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(Put(std::to_string(i), S("g"), std::to_string(i)).ok());
  gate_->Shut();
  ASSERT_TRUE(CreateByGroup().ok());
  gate_->AwaitWaiting();
  ASSERT_TRUE(Put("new", S("g"), "100").ok());
  std::filesystem::copy(directory_.path() + "/data", directory_.path() + "/copy",
                        std::filesystem::copy_options::recursive);
  TestDatabase copy(TestDatabase::DefaultOptions(directory_.path() + "/copy"));
  AwaitIndexes(*copy, "Things");
  wire::PageRequest scan = ScanRequest("Things");
  scan.set_index_name("ByGroup");
  EXPECT_THAT(ScanAll(copy, scan), SizeIs(51));
  copy.CheckIsClean();
  EXPECT_TRUE(AwaitNoBuildFiles(directory_.path() + "/copy"));
  copy.Reopen();
  copy.CheckIsClean();
  EXPECT_THAT(ScanAll(copy, scan), SizeIs(51));
}

TEST_F(LiveIndexes, AreFilledOneAfterAnother) {
  database_.CreateTable(TableRequest("Others"));
  ASSERT_TRUE(Put("1", S("g")).ok());
  gate_->Shut();
  ASSERT_TRUE(CreateByGroup().ok());
  gate_->AwaitWaiting();
  ASSERT_TRUE(Update(CreateIndexRequest("Others", "ByGroup", {"grp:S"}, 1)).ok());
  EXPECT_EQ(Describe(database_, "Others").global_secondary_indexes(0).build().phase(),
            v1::IndexBuild::PHASE_WAITING);
  gate_->Open();
  AwaitIndexes(*database_, "Things");
  AwaitIndexes(*database_, "Others");
  database_.CheckIsClean();
}

TEST_F(LiveIndexes, SettingsAndTagsChangeWhileTheyAreFilled) {
  ASSERT_TRUE(Put("1", S("g")).ok());
  gate_->Shut();
  ASSERT_TRUE(CreateByGroup().ok());
  gate_->AwaitWaiting();
  v1::UpdateTableRequest protect;
  protect.set_table_name("Things");
  protect.set_deletion_protection_enabled(true);
  ASSERT_TRUE(Update(protect).ok());
  ASSERT_TRUE(Put("2", S("g")).ok());
  gate_->Open();
  AwaitIndexes(*database_, "Things");
  EXPECT_TRUE(Describe(database_, "Things").deletion_protection_enabled());
  EXPECT_THAT(ScanIndex("ByGroup"), SizeIs(2));
  database_.CheckIsClean();
}

TEST_F(LiveIndexes, TheirChangesAreInTheChangeLog) {
  ASSERT_TRUE(CreateByGroup().ok());
  AwaitIndexes(*database_, "Things");
  ASSERT_TRUE(Update(DeleteIndexRequest("Things", "ByGroup")).ok());
  std::vector<std::string> seen;
  for (const v1::ChangeRecord& record : Changes(database_)) {
    std::string text = v1::ChangeKind_Name(record.kind());
    for (const auto& index : record.table().global_secondary_indexes())
      text += " " + index.index_name() + " " + v1::TableStatus_Name(index.index_status());
    seen.push_back(text);
  }
  EXPECT_THAT(
      seen, ElementsAre("CHANGE_KIND_CREATE_TABLE", "CHANGE_KIND_UPDATE_TABLE ByGroup TABLE_STATUS_CREATING",
                        "CHANGE_KIND_UPDATE_TABLE ByGroup TABLE_STATUS_ACTIVE", "CHANGE_KIND_UPDATE_TABLE"));
}

TEST_F(LiveIndexes, AreCheckedBeforeTheyAreCreated) {  // SEM-093, SEM-095, SEM-096
  const v1::UpdateTableRequest good = CreateIndexRequest("Things", "ByGroup", {"grp:S", "rank:N"}, 1);
  v1::UpdateTableRequest request = good;
  request.clear_attribute_definitions();
  EXPECT_THAT(Update(request).status(), IsInvalid("must have the key attributes of index ByGroup"));
  request = good;
  request.mutable_attribute_definitions()->RemoveLast();
  EXPECT_THAT(Update(request).status(), IsInvalid("not defined in AttributeDefinitions. Keys: [grp, rank]"));
  request = good;
  request.mutable_global_secondary_index_creations(0)->clear_projection();
  EXPECT_THAT(Update(request).status(), IsInvalid("ProjectionType of index ByGroup"));
  request = good;
  request.mutable_global_secondary_index_creations(0)->set_index_name("x");
  EXPECT_THAT(Update(request).status(), IsInvalid("IndexName 'x'"));
  request = good;
  request.mutable_global_secondary_index_creations(0)
      ->mutable_provisioned_throughput()
      ->set_read_capacity_units(1);
  EXPECT_THAT(Update(request).status(), IsInvalid("PAY_PER_REQUEST"));
  request = good;
  request.set_billing_mode(v1::BILLING_MODE_PAY_PER_REQUEST);
  EXPECT_THAT(Update(request).status(),
              IsInvalid("GlobalSecondaryIndexUpdates must be the only operation in the request"));
  request = good;
  *request.add_global_secondary_index_creations() = good.global_secondary_index_creations(0);
  EXPECT_THAT(Update(request).status(), IsInvalid("index ByGroup is named twice"));
  request.mutable_global_secondary_index_creations(1)->set_index_name("Another");
  EXPECT_THAT(Update(request).status(), IsLimitExceeded("Only 1 online index"));
  request = good;
  request.add_global_secondary_index_deletions("Missing");
  EXPECT_THAT(Update(request).status(), IsLimitExceeded("Only 1 online index"));
  // An attribute has one type in all keys (SEM-073).
  request = CreateIndexRequest("Things", "ByKey", {"sk:N"}, 1);
  EXPECT_THAT(Update(request).status(), IsInvalid("attribute sk is a key attribute already"));
  const absl::Status missing = Update(DeleteIndexRequest("Things", "Missing")).status();
  EXPECT_THAT(missing, IsTableNotFound());
  EXPECT_THAT(MessageOf(missing), HasSubstr("has no global secondary index Missing"));
  EXPECT_EQ(Describe(database_, "Things").global_secondary_indexes_size(), 0);

  request = good;  // Definitions of attributes outside keys are ignored (SEM-093).
  auto* spurious = request.add_attribute_definitions();
  spurious->set_attribute_name("spurious");
  spurious->set_attribute_type(v1::SCALAR_ATTRIBUTE_TYPE_S);
  ASSERT_TRUE(Update(request).ok());
  EXPECT_EQ(Describe(database_, "Things").attribute_definitions_size(), 4);
  AwaitIndexes(*database_, "Things");
  EXPECT_THAT(Update(good).status(),
              IsInvalid("Attempting to create an index which already exists: ByGroup"));
}

TEST_F(LiveIndexes, AreBoundedInNumberAndProjectedAttributes) {  // SEM-067, SEM-068
  auto full = TableRequest("Full");
  for (int i = 0; i < kMaxGlobalSecondaryIndexes; ++i)
    AddIndex(&full, "Index" + std::to_string(i), {"grp:S"}, 1, v1::PROJECTION_TYPE_KEYS_ONLY);
  database_.CreateTable(full);
  EXPECT_THAT(Update(CreateIndexRequest("Full", "More", {"grp:S"}, 1)).status(),
              IsLimitExceeded("Number of global secondary indexes exceeds per-table limit of 20"));
  EXPECT_EQ(Describe(database_, "Full").global_secondary_indexes_size(), kMaxGlobalSecondaryIndexes);

  auto wide = TableRequest("Wide");
  database_.CreateTable(wide);
  for (int i = 0; i < 6; ++i) {
    auto request = CreateIndexRequest("Wide", "Index" + std::to_string(i), {"grp:S"}, 1);
    auto* projection = request.mutable_global_secondary_index_creations(0)->mutable_projection();
    projection->set_projection_type(v1::PROJECTION_TYPE_INCLUDE);
    for (int j = 0; j < kMaxNonKeyAttributes; ++j)
      projection->add_non_key_attributes("a" + std::to_string(j));
    const absl::Status updated = Update(request).status();
    if (i == 5) {
      EXPECT_THAT(updated, IsInvalid("120 NonKeyAttributes together; at most 100"));
    } else {
      ASSERT_TRUE(updated.ok()) << updated;
      AwaitIndexes(*database_, "Wide");
    }
  }
}

TEST_F(LiveIndexes, ShowTheThroughputTheyAreGiven) {  // SEM-099
  v1::UpdateTableRequest request = CreateIndexRequest("Things", "ByGroup", {"grp:S"}, 1);
  auto* index = request.mutable_global_secondary_index_creations(0);
  index->mutable_on_demand_throughput()->set_max_read_request_units(5);
  index->mutable_warm_throughput()->set_write_units_per_second(7);
  EXPECT_THAT(Update(request).status(),
              IsInvalid("Requested WriteUnitsPerSecond for WarmThroughput for index ByGroup"));
  index->mutable_warm_throughput()->set_write_units_per_second(4'001);
  ASSERT_TRUE(Update(request).ok());
  AwaitIndexes(*database_, "Things");
  v1::UpdateTableRequest change;
  change.set_table_name("Things");
  auto* throughput = change.add_global_secondary_index_throughputs();
  throughput->set_index_name("ByGroup");
  EXPECT_THAT(Update(change).status(), IsInvalid("OnDemandThroughput or WarmThroughput of index ByGroup"));
  throughput->mutable_on_demand_throughput()->set_max_write_request_units(6);
  ASSERT_TRUE(Update(change).ok());
  const auto described = Describe(database_, "Things").global_secondary_indexes(0);
  EXPECT_EQ(described.on_demand_throughput().max_read_request_units(), 5);
  EXPECT_EQ(described.on_demand_throughput().max_write_request_units(), 6);
  EXPECT_EQ(described.warm_throughput().read_units_per_second(), 12'000);
  EXPECT_EQ(described.warm_throughput().write_units_per_second(), 4'001);
}

}  // namespace
}  // namespace itemdb::testing
