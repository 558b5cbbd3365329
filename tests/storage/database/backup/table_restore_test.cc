// Tables that are restored from backups of single tables.
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "spdlog/spdlog.h"
#include "tests/storage/database/backup/table_backup_fixture.h"
#include "tests/support/files.h"
#include "tests/support/live_index.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class TableRestoreTest : public TableBackupTest {
 protected:
  DatabaseOptions Options() const override {
    DatabaseOptions options = TableBackupTest::Options();
    options.index_build_bytes = 64 << 10;  // Entries are sorted in many files.
    return options;
  }
  // One random put, update or delete of one of a few hundred items, some of them without index attributes.
  void WriteRandomly(const std::string& table, std::mt19937& random) {
    const std::string pk(1, static_cast<char>('a' + random() % 9));
    const std::string sk = std::to_string(random() % 60);
    absl::Status status;
    switch (random() % 6) {
      case 0:
        status = database_->Delete(table, {{"pk", S(pk)}, {"sk", S(sk)}}).status();
        break;
      case 1:
        status = database_->Put(table, {{"pk", S(pk)}, {"sk", S(sk)}}).status();
        break;
      case 2: {
        auto update = UpdateRequest(
            table, {{"pk", S(pk)}, {"sk", S(sk)}}, "SET city = :c, #n = :n",
            {{":c", S("city" + std::to_string(random() % 5))}, {":n", N(std::to_string(random() % 100))}});
        SetName(&update, "#n", "number");
        status = database_->Update(update).status();
        break;
      }
      default:
        status = database_
                     ->Put(table, {{"pk", S(pk)},
                                   {"sk", S(sk)},
                                   {"state", S("state" + std::to_string(random() % 4))},
                                   {"number", N(std::to_string(random() % 50))},
                                   {"city", S("city" + std::to_string(random() % 5))},
                                   {"text", S(std::string(random() % 200, 'x'))}})
                     .status();
    }
    EXPECT_TRUE(status.ok()) << status;
  }
  // The path of the only backup's only file of items.
  std::filesystem::path OnlyFile() const {
    std::filesystem::path found;
    for (const auto& folder : Folders())
      for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".sst") found = entry.path();
    return found;
  }
  // Like RestoreTable, for a backup that must turn out to be damaged: the table is removed again.
  void ExpectRemoved(const std::string& arn) {
    auto begun = StartRestore("Copy", arn);
    ASSERT_TRUE(begun.ok()) << begun.status();
    EXPECT_THAT(AwaitTable("Copy").status(), IsTableNotFound());
    database_->CheckIsClean();
    v1::ListTablesRequest list;
    EXPECT_EQ(database().ListTables(list)->table_names_size(), 1);
  }
};

// PIT-13. The model of a restored table is its source at the moment of the backup: items, entries of all
// indexes in their orders, and size statistics, which CheckIsClean compares with what is stored.
TEST_F(TableRestoreTest, EqualsItsSource) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  CreateIndexedTable("Things");
  std::map<std::string, std::vector<std::vector<std::string>>> expected;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 400; ++i) WriteRandomly("Things", random);
    const auto contents = Contents("Things");
    expected[BackUp("Things")] = contents;
  }
  for (int i = 0; i < 400; ++i) WriteRandomly("Things", random);
  int number = 0;
  for (const auto& [arn, contents] : expected) {
    const std::string copy = "Copy" + std::to_string(++number);
    auto restored = RestoreTable(copy, arn);
    ASSERT_TRUE(restored.ok()) << restored.status();
    EXPECT_EQ(Contents(copy), contents);
    EXPECT_EQ(restored->item_count(), static_cast<int64_t>(contents[0].size()));
    EXPECT_FALSE(restored->has_restore_summary());
    // Its indexes are maintained like those of any table.
    for (int i = 0; i < 50; ++i) WriteRandomly(copy, random);
  }
  database_->CheckIsClean();
  const auto last = Contents("Copy1");
  database_->Reopen();
  EXPECT_EQ(Contents("Copy1"), last);
  database_->CheckIsClean();
  // Its changes begin with its creation, as of any new table.
  std::vector<v1::ChangeKind> kinds;
  const uint64_t storage_id = Describe(*database_, "Copy1").storage_id();
  for (const v1::ChangeRecord& change : Changes(*database_))
    if (change.table_storage_id() == storage_id) kinds.push_back(change.kind());
  EXPECT_EQ(kinds[0], v1::CHANGE_KIND_CREATE_TABLE);
  EXPECT_GT(kinds.size(), 20u);
}

// Many files of items and of each index, which are ingested while writes go on.
TEST_F(TableRestoreTest, LargeTable) {
  CreateIndexedTable("Things");
  wire::BatchWriteItemRequest batch;
  for (int i = 0; i < 30'000; ++i) {
    if (batch.request_items_size() == 0) batch.add_request_items()->set_table_name("Things");
    batch.mutable_request_items(0)->add_write_requests()->mutable_put_request()->set_item(
        Encode({{"pk", S(std::to_string(i % 100))},
                {"sk", S(std::to_string(i))},
                {"state", S("state" + std::to_string(i % 11))},
                {"number", N(std::to_string(i % 977))},
                {"text", S(std::string(300, static_cast<char>('a' + i % 26)))}}));
    if (batch.request_items(0).write_requests_size() < 25) continue;
    ASSERT_TRUE(BatchWrite(*database_, batch).ok());
    batch.Clear();
  }
  const auto contents = Contents("Things");
  const std::string arn = BackUp("Things");
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      EXPECT_TRUE(
          database_->Put("Things", {{"pk", S("w")}, {"sk", S(std::to_string(i))}, {"state", S("w")}}).ok());
    }
  });
  auto restored = RestoreTable("Copy", arn);
  stop = true;
  writer.join();
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_TRUE(Contents("Copy") == contents);
  database_->CheckIsClean();
}

TEST_F(TableRestoreTest, EmptyTable) {
  CreateIndexedTable("Things");
  const std::string arn = BackUp("Things");
  auto restored = RestoreTable("Copy", arn);
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_EQ(restored->item_count(), 0);
  database_->CheckIsClean();
  ASSERT_TRUE(database_->Put("Copy", {{"pk", S("a")}, {"sk", S("b")}, {"state", S("x")}}).ok());
  database_->CheckIsClean();
}

// Transfers between items of one table keep a sum, each in one commit. A backup of any other cut has another
// (BAK-20).
TEST_F(TableRestoreTest, TheCutIsOneChangeSequence) {
  database_->CreateTable(TableRequest("Accounts", /*sorted=*/false));
  constexpr int kAccounts = 40;
  for (int i = 0; i < kAccounts; ++i) {
    ASSERT_TRUE(database_->Put("Accounts", {{"pk", S(std::to_string(i))}, {"money", N("100")}}).ok());
  }
  std::atomic<bool> stop = false;
  std::vector<std::thread> writers;
  for (uint32_t writer = 0; writer < 3; ++writer) {
    writers.emplace_back([&, writer] {
      std::mt19937 random(writer);
      while (!stop) {
        const uint32_t from = random() % kAccounts;
        const uint32_t to = (from + 1 + random() % (kAccounts - 1)) % kAccounts;
        wire::TransactWriteItemsRequest transfer;
        for (const auto& [account, amount] : {std::pair(from, "-1"), std::pair(to, "1")}) {
          *transfer.add_transact_items()->mutable_update() = UpdateRequest(
              "Accounts", {{"pk", S(std::to_string(account))}}, "ADD money :a", {{":a", N(amount)}});
        }
        EXPECT_TRUE(database_->Transact(transfer).ok());
      }
    });
  }
  for (int round = 0; round < 10; ++round) {
    const std::string arn = BackUp("Accounts");
    const std::string copy = "Copy" + std::to_string(round);
    ASSERT_TRUE(RestoreTable(copy, arn).ok());
    int sum = 0;
    const std::vector<std::string> items = ScanAll(*database_, ScanRequest(copy));
    EXPECT_THAT(items, SizeIs(kAccounts));
    for (const std::string& item : items) sum += std::stoi(item.substr(item.find("money=") + 6));
    EXPECT_EQ(sum, 100 * kAccounts);
  }
  stop = true;
  for (std::thread& writer : writers) writer.join();
  database_->CheckIsClean();
}

// Damage of any byte of a backup is found before anybody sees a table.
TEST_F(TableRestoreTest, ADamagedBackupLeavesNoTable) {
  CreateIndexedTable("Things");
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(database_
                    ->Put("Things", {{"pk", S(std::to_string(i % 5))},
                                     {"sk", S(std::to_string(i))},
                                     {"state", S("x")},
                                     {"text", S(std::string(100, 'x'))}})
                    .ok());
  }
  const std::string arn = BackUp("Things");
  const std::filesystem::path path = OnlyFile();
  const std::string whole = ReadFile(path);
  std::mt19937 random(1);
  for (int i = 0; i < 40; ++i) {
    std::string damaged = whole;
    damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
    WriteFile(path, damaged);
    auto begun = StartRestore("Copy", arn);
    ASSERT_TRUE(begun.ok()) << begun.status();
    const auto table = AwaitTable("Copy");
    if (table.ok()) {
      // A byte of the file that says nothing about the items, such as a property.
      EXPECT_EQ(Contents("Copy"), Contents("Things"));
      ASSERT_TRUE(DeleteTable(*database_, "Copy").ok());
    }
  }
  for (const std::string& damaged :
       {whole.substr(0, whole.size() / 2), std::string(), std::string(5'000, 'x')}) {
    WriteFile(path, damaged);
    ExpectRemoved(arn);
  }
  std::filesystem::remove(path);
  ExpectRemoved(arn);
  WriteFile(path, whole);
  ASSERT_TRUE(RestoreTable("Copy", arn).ok());
  EXPECT_EQ(Contents("Copy"), Contents("Things"));
}

// The file of another backup of the same table has valid checksums.
TEST_F(TableRestoreTest, TheFileOfAnotherBackupIsDamage) {
  database_->CreateTable(TableRequest("Things"));
  ASSERT_TRUE(database_->Put("Things", {{"pk", S("a")}, {"sk", S("b")}, {"text", S("old")}}).ok());
  const std::string arn = BackUp("Things");
  const std::filesystem::path first = OnlyFile();
  ASSERT_TRUE(database_->Put("Things", {{"pk", S("a")}, {"sk", S("b")}, {"text", S("new")}}).ok());
  BackUp("Things");
  for (const auto& folder : Folders()) {
    if (folder != first.parent_path())
      std::filesystem::copy_file(folder / "1.sst", first, std::filesystem::copy_options::overwrite_existing);
  }
  ExpectRemoved(arn);
}

// A file of a backup that is a FIFO holds the restore up until the test writes to it.
TEST_F(TableRestoreTest, IsHiddenUntilItIsActive) {
  CreateIndexedTable("Things");
  ASSERT_TRUE(database_->Put("Things", {{"pk", S("a")}, {"sk", S("b")}, {"state", S("x")}}).ok());
  const std::string arn = BackUp("Things");
  const std::string other = BackUp("Things");
  std::filesystem::path path;
  for (const auto& folder : Folders())
    if (folder.string().find(arn.substr(arn.rfind('/') + 1)) != std::string::npos) path = folder / "1.sst";
  const std::string whole = ReadFile(path);
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);

  auto begun = StartRestore("Copy", arn);
  ASSERT_TRUE(begun.ok()) << begun.status();
  EXPECT_EQ(begun->table_status(), v1::TABLE_STATUS_CREATING);
  EXPECT_EQ(begun->restore_summary().source_backup_arn(), arn);
  EXPECT_EQ(begun->restore_summary().source_table_arn(), "arn:aws:dynamodb:local:000000000000:table/Things");
  EXPECT_EQ(begun->restore_summary().restore_time_ms(), DescribeBackup(arn)->creation_time_ms());
  const v1::TableDescription described = Describe(*database_, "Copy");
  EXPECT_EQ(described.table_status(), v1::TABLE_STATUS_CREATING);
  EXPECT_EQ(described.table_id(), begun->table_id());
  EXPECT_THAT(described.global_secondary_indexes(), SizeIs(3));
  EXPECT_THAT(database().ListTables({})->table_names(), ElementsAre("Copy", "Things"));

  // PIT-12.
  EXPECT_THAT(database_->Put("Copy", {{"pk", S("a")}, {"sk", S("b")}}).status(), IsTableNotFound());
  EXPECT_THAT(database_->Scan(ScanRequest("Copy")).status(), IsTableNotFound());
  EXPECT_THAT(UpdateTable(database(), DeleteIndexRequest("Copy", "ByState")).status(), IsTableNotFound());
  EXPECT_THAT(StartBackup("Copy").status(), FailsWith(kReasonTableNotFound, "Table not found: Copy"));
  EXPECT_THAT(Recovery("Copy").status(), FailsWith(kReasonTableNotFound, "Table not found: Copy"));
  const std::string in_use = "Attempt to change a resource which is still in use: Table is being used: Copy";
  EXPECT_THAT(CreateTable(*database_, TableRequest("Copy")).status(),
              FailsWith(kReasonResourceInUse, in_use));
  EXPECT_THAT(DeleteTable(*database_, "Copy").status(), FailsWith(kReasonResourceInUse, in_use));
  // PIT-09, BAK-17.
  EXPECT_THAT(StartRestore("Things", other).status(),
              FailsWith(kReasonTableAlreadyExists, "Table already exists: Things"));
  EXPECT_THAT(StartRestore("Copy", other).status(),
              FailsWith(kReasonTableInUse, "Table: Copy is already being restored from backup: " + arn));
  EXPECT_THAT(StartRestore("Another", arn).status(),
              FailsWith(kReasonBackupInUse, "Backup is being used to restore another table: " + arn));
  EXPECT_THAT(DeleteBackup(arn).status(),
              FailsWith(kReasonBackupInUse, "Backup is being used to restore table: " + arn));
  auto checked =
      Await<v1::CheckDatabaseReply>([&](auto done) { database().CheckDatabase({}, std::move(done)); });
  ASSERT_TRUE(checked.ok()) << checked.status();
  EXPECT_EQ(checked->finding_count(), 0) << checked->DebugString();

  // The thread that is held reads nothing and finds damage; then the target goes.
  std::ofstream(path).close();
  EXPECT_THAT(AwaitTable("Copy").status(), IsTableNotFound());
  std::filesystem::remove(path);
  WriteFile(path, whole);
  ASSERT_TRUE(RestoreTable("Copy", arn).ok());
  EXPECT_EQ(Contents("Copy"), Contents("Things"));
  EXPECT_TRUE(DeleteBackup(arn).ok());
}

// PIT-19. The first of them is held as above, so the others wait.
TEST_F(TableRestoreTest, AtMostFiftyWait) {
  database_->CreateTable(TableRequest("Things"));
  std::vector<std::string> arns;
  for (int i = 0; i < 51; ++i) arns.push_back(BackUp("Things", "backup" + std::to_string(i)));
  // The backups are empty, so the held one gets a file to read.
  ASSERT_TRUE(database_->Put("Things", {{"pk", S("a")}, {"sk", S("b")}}).ok());
  arns[0] = BackUp("Things", "held");
  std::filesystem::path path;
  for (const auto& folder : Folders())
    if (folder.string().find(arns[0].substr(arns[0].rfind('/') + 1)) != std::string::npos)
      path = folder / "1.sst";
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(StartRestore("Copy" + std::to_string(i), arns[i]).ok()) << i;
  EXPECT_THAT(StartRestore("Copy50", arns[50]).status(),
              FailsWith(kReasonLimitExceeded,
                        "Subscriber limit exceeded: Only 50 restore operations can be done simultaneously"));
  std::ofstream(path).close();
  for (int i = 1; i < 50; ++i) EXPECT_TRUE(AwaitTable("Copy" + std::to_string(i)).ok()) << i;
  EXPECT_TRUE(RestoreTable("Copy50", arns[50]).ok());
}

// A restore that the end of the process interrupted begins anew.
TEST_F(TableRestoreTest, GoesOnAfterTheNextStart) {
  CreateIndexedTable("Things");
  std::mt19937 random(1);
  for (int i = 0; i < 2'000; ++i) WriteRandomly("Things", random);
  const auto contents = Contents("Things");
  const std::string arn = BackUp("Things");
  for (int round = 0; round < 20; ++round) {
    const std::string copy = "Copy" + std::to_string(round);
    auto begun = StartRestore(copy, arn);
    ASSERT_TRUE(begun.ok()) << begun.status();
    std::this_thread::sleep_for(std::chrono::milliseconds(round));
    database_->Reopen();
    auto restored = AwaitTable(copy);
    ASSERT_TRUE(restored.ok()) << restored.status();
    EXPECT_EQ(restored->table_id(), begun->table_id());
    EXPECT_EQ(Contents(copy), contents);
    ASSERT_TRUE(DeleteTable(*database_, copy).ok());
  }
  database_->CheckIsClean();
}

TEST_F(TableRestoreTest, IsEncryptedWithTheDatabase) {
  DatabaseOptions options = Options();
  options.data_directory = directory_.path() + "/encrypted";
  options.encryption_keys = KeysOf({"first"});
  Open(options);
  database_->CreateTable(TableRequest("Secrets"));
  ASSERT_TRUE(
      database_->Put("Secrets", {{"pk", S("secret key")}, {"sk", S("b")}, {"text", S("secret text")}}).ok());
  const std::string arn = BackUp("Secrets");
  EXPECT_THAT(FilesWith(backups_, "secret text"), IsEmpty());
  EXPECT_THAT(FilesWith(backups_, "secret key"), IsEmpty());
  ASSERT_TRUE(RestoreTable("Copy", arn).ok());
  EXPECT_EQ(ScanAll(*database_, ScanRequest("Copy")), ScanAll(*database_, ScanRequest("Secrets")));
  EXPECT_THAT(FilesWith(directory_.path() + "/encrypted", "secret text"), IsEmpty());
  // Another key cannot read it.
  options.data_directory = directory_.path() + "/other";
  options.encryption_keys = KeysOf({"second"});
  Open(options);
  EXPECT_TRUE(absl::IsInvalidArgument(StartRestore("Copy", arn).status()));
}

// ---- overrides

class OverridesTest : public TableRestoreTest {
 protected:
  void SetUp() override {
    TableRestoreTest::SetUp();
    CreateIndexedTable("Things");
    std::mt19937 random(1);
    for (int i = 0; i < 200; ++i) WriteRandomly("Things", random);
    arn_ = BackUp("Things");
  }
  static void SetThroughput(v1::ProvisionedThroughput* throughput, int64_t units) {
    throughput->set_read_capacity_units(units);
    throughput->set_write_capacity_units(units);
  }
  // The indexes of the source, for an override.
  v1::GlobalSecondaryIndex IndexOf(const std::string& source, const std::string& name) {
    v1::GlobalSecondaryIndex index;
    const v1::TableDescription table = Describe(*database_, "Things");
    for (const auto& one : table.global_secondary_indexes()) {
      if (one.index_name() != source) continue;
      *index.mutable_key_schema() = one.key_schema();
      *index.mutable_projection() = one.projection();
    }
    index.set_index_name(name);
    return index;
  }

  std::string arn_;
};

// PIT-16.
TEST_F(OverridesTest, IndexesAreAllOrThoseOfTheRequest) {
  const auto contents = Contents("Things");
  v1::RestoreTableFromBackupRequest request = RestoreRequest("Some", arn_);
  auto* global = request.mutable_overrides()->mutable_global_secondary_indexes();
  *global->add_indexes() = IndexOf("ByCity", "Renamed");
  request.mutable_overrides()->mutable_local_secondary_indexes();  // None.
  ASSERT_TRUE(StartRestore(request).ok());
  auto restored = AwaitTable("Some");
  ASSERT_TRUE(restored.ok()) << restored.status();
  ASSERT_THAT(restored->global_secondary_indexes(), SizeIs(1));
  EXPECT_EQ(restored->global_secondary_indexes(0).index_name(), "Renamed");
  EXPECT_THAT(restored->local_secondary_indexes(), IsEmpty());
  EXPECT_THAT(restored->attribute_definitions(), SizeIs(4)) << "of pk, sk, city and state";
  EXPECT_EQ(Contents("Some", {"Renamed"}), (std::vector<std::vector<std::string>>{contents[0], contents[3]}));
  database_->CheckIsClean();

  request = RestoreRequest("None", arn_);
  request.mutable_overrides()->mutable_global_secondary_indexes();
  *request.mutable_overrides()->mutable_local_secondary_indexes() = {};
  ASSERT_TRUE(StartRestore(request).ok());
  restored = AwaitTable("None");
  ASSERT_TRUE(restored.ok());
  EXPECT_THAT(restored->global_secondary_indexes(), IsEmpty());
}

// PIT-10, PIT-15, PIT-16.
TEST_F(OverridesTest, AreCheckedBeforeTheTarget) {
  const auto refuse = [&](const std::string& text, const auto& set) {
    SCOPED_TRACE(text);
    // The target exists: the overrides are refused first (PIT-10).
    v1::RestoreTableFromBackupRequest request = RestoreRequest("Things", arn_);
    set(*request.mutable_overrides());
    EXPECT_THAT(StartRestore(request).status(), FailsWith(kReasonValidation, text));
  };
  refuse("Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED",
         [](v1::RestoreOverrides& o) { SetThroughput(o.mutable_provisioned_throughput(), 5); });
  refuse("Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED",
         [](v1::RestoreOverrides& o) { o.set_billing_mode(v1::BILLING_MODE_PROVISIONED); });
  refuse(
      "Cannot override MaxReadRequestUnits for OnDemandThroughput unless BillingModeOverride is "
      "PAY_PER_REQUEST",
      [](v1::RestoreOverrides& o) { o.mutable_on_demand_throughput()->set_max_read_request_units(5); });
  refuse("Must specify provisioned throughput for index ByState", [](v1::RestoreOverrides& o) {
    o.set_billing_mode(v1::BILLING_MODE_PROVISIONED);
    SetThroughput(o.mutable_provisioned_throughput(), 5);
  });
  refuse(
      "Index Other does not match a secondary index that existed in the source table and cannot be created "
      "during the restore operation",
      [&](v1::RestoreOverrides& o) {
        auto* index = o.mutable_global_secondary_indexes()->add_indexes();
        *index = IndexOf("ByState", "Other");
        index->mutable_projection()->set_projection_type(v1::PROJECTION_TYPE_KEYS_ONLY);
      });
  refuse("One or more parameter values were invalid: Duplicate index name: Same",
         [&](v1::RestoreOverrides& o) {
           *o.mutable_global_secondary_indexes()->add_indexes() = IndexOf("ByState", "Same");
           *o.mutable_global_secondary_indexes()->add_indexes() = IndexOf("ByCity", "Same");
         });
  EXPECT_THAT(StartRestore("no", arn_).status(), IsInvalid("TargetTableName"));
  EXPECT_THAT(StartRestore("Things", arn_).status(),
              FailsWith(kReasonTableAlreadyExists, "Table already exists: Things"));
  EXPECT_EQ(database().ListTables({})->table_names_size(), 1) << "no error leaves a target";
}

// PIT-17.
TEST_F(OverridesTest, BillingAndEncryption) {
  v1::RestoreTableFromBackupRequest request = RestoreRequest("Provisioned", arn_);
  v1::RestoreOverrides& overrides = *request.mutable_overrides();
  overrides.set_billing_mode(v1::BILLING_MODE_PROVISIONED);
  SetThroughput(overrides.mutable_provisioned_throughput(), 7);
  auto* index = overrides.mutable_global_secondary_indexes()->add_indexes();
  *index = IndexOf("ByState", "ByState");
  SetThroughput(index->mutable_provisioned_throughput(), 3);
  overrides.mutable_sse_specification()->set_enabled(true);
  auto begun = StartRestore(request);
  ASSERT_TRUE(begun.ok()) << begun.status();
  auto restored = AwaitTable("Provisioned");
  ASSERT_TRUE(restored.ok());
  EXPECT_EQ(restored->billing_mode(), v1::BILLING_MODE_PROVISIONED);
  EXPECT_EQ(restored->provisioned_throughput().read_capacity_units(), 7);
  EXPECT_EQ(restored->global_secondary_indexes(0).provisioned_throughput().write_capacity_units(), 3);
  EXPECT_EQ(restored->last_update_to_pay_per_request_time_ms(), 0);
  EXPECT_TRUE(restored->sse_specification().enabled());

  // And back; the throughput of its index goes, encryption is turned off.
  const std::string arn = BackUp("Provisioned");
  request = RestoreRequest("OnDemand", arn);
  request.mutable_overrides()->set_billing_mode(v1::BILLING_MODE_PAY_PER_REQUEST);
  request.mutable_overrides()->mutable_on_demand_throughput()->set_max_read_request_units(9);
  request.mutable_overrides()->mutable_sse_specification();
  ASSERT_TRUE(StartRestore(request).ok());
  restored = AwaitTable("OnDemand");
  ASSERT_TRUE(restored.ok());
  EXPECT_EQ(restored->billing_mode(), v1::BILLING_MODE_PAY_PER_REQUEST);
  EXPECT_FALSE(restored->has_provisioned_throughput());
  EXPECT_FALSE(restored->global_secondary_indexes(0).has_provisioned_throughput());
  EXPECT_EQ(restored->on_demand_throughput().max_read_request_units(), 9);
  EXPECT_FALSE(restored->has_sse_specification());
  EXPECT_GT(restored->last_update_to_pay_per_request_time_ms(), 0);
  database_->CheckIsClean();
}

}  // namespace
}  // namespace itemdb::testing
