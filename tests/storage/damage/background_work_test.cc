// Work in the background beside damaged blocks: the expiry of items and the background check go on behind
// them. A failed read is damage when it fails again.
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/storage/database/indexes/damage.h"
#include "tests/storage/database/items/time_to_live.h"
#include "tests/storage/engine/recovery_fixture.h"
#include "tests/support/power_loss_file_system.h"

namespace itemdb::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kDamageLogged[] = "damage: a block of a table file cannot be read";

class DamagedBackgroundWork : public DamagedFilesTest {
 protected:
  static constexpr int kThings = 2'000;

  DatabaseOptions QuickOptions() {
    DatabaseOptions options = clock_.With(Options());
    options.damaged_expiry_interval = std::chrono::milliseconds(200);
    return options;
  }

  static std::string SortKey(int number) { return std::to_string(10'000 + number); }
  static absl::Status Put(TestDatabase& database, int number, int64_t expires_after) {
    return database.Put("Things", {{"pk", S("p")}, {"sk", S(SortKey(number))}, {"ttl", At(expires_after)}})
        .status();
  }
  static std::string Get(TestDatabase& database, int number) {
    return database.Get("Things", {{"pk", S("p")}, {"sk", S(SortKey(number))}});
  }

  // A closed database with a table of items that expire after ten seconds, in table files.
  void MakeThings() {
    TestDatabase database(QuickOptions());
    database.CreateTable(TableRequest("Things"));
    ASSERT_TRUE(SetTimeToLive(*database, "Things", true).ok());
    ASSERT_TRUE(AwaitEnabled(*database, "Things"));
    for (int i = 0; i < kThings; ++i) ASSERT_TRUE(Put(database, i, 10).ok());
    for (const v1::ChangeRecord& record : Changes(database)) {
      if (record.table().has_time_to_live()) times_ = record.table().time_to_live().storage_id();
    }
    database.Reopen();  // Writes the log to table files.
    database.Close();
  }

  // Damages a block in the middle of the largest file of `family`.
  void DamageMiddle(const std::string& family) {
    uint64_t most = 0;
    for (const std::string& file : FilesOf(family)) {
      if (DataBytes(file) <= most) continue;
      most = DataBytes(file);
      file_ = file;
    }
    ASSERT_GT(most, uint64_t{5 * 8} << 10) << "many blocks";
    Flip(PathOf(file_), most / 2);
  }

  size_t TimesLogged(const std::string& text) const {
    const std::string log = log_.str();
    size_t times = 0;
    for (size_t at = log.find(text); at != std::string::npos; at = log.find(text, at + 1)) ++times;
    return times;
  }

  TestClock clock_;
  uint64_t times_ = 0;
  std::string file_;
};

// Entries of the index of expiry times that cannot be read keep their items, and only those.
TEST_F(DamagedBackgroundWork, ExpiryGoesOnBehindDamage) {
  MakeThings();
  DamageMiddle("global_entries");
  if (HasFatalFailure()) return;
  TestDatabase database(QuickOptions());
  clock_.Set(TestClock::kStart + 10);
  EXPECT_TRUE(Await([&] { return Get(database, kThings - 1) == ""; }));
  EXPECT_EQ(Get(database, 0), "");
  const auto expired = [&] { return DescribeTimeToLive(*database, "Things").items_expired(); };
  EXPECT_TRUE(Await([&] { return expired() >= kThings * 3 / 4; }));
  // The index is read again and again.
  std::this_thread::sleep_for(std::chrono::seconds(1));
  EXPECT_LT(expired(), kThings);
  EXPECT_EQ(TimesLogged(kDamageLogged), 1u);
  EXPECT_THAT(log_.str(), HasSubstr("file=" + file_ + " "));
  EXPECT_EQ(TimesLogged("expired items may be left undeleted"), 1u);
  // What expires now goes on too.
  ASSERT_TRUE(Put(database, kThings + 1, 11).ok());
  clock_.Set(TestClock::kStart + 11);
  EXPECT_TRUE(Await([&] { return Get(database, kThings + 1) == ""; }));
}

TEST_F(DamagedBackgroundWork, TheCheckGoesOnBehindDamage) {
  MakeThings();
  {
    Families families(data_);
    families.Delete(times_, families.All(times_).rbegin()->first);  // The entry of the last item.
  }
  DamageMiddle("items");
  if (HasFatalFailure()) return;
  DatabaseOptions options = QuickOptions();
  options.background_check_rate = 1'000'000;
  options.check_interval = std::chrono::milliseconds(10);
  TestDatabase database(options);
  EXPECT_TRUE(Await([&] { return database->GetStatus().background_check().rounds() >= 3; }));
  const v1::BackgroundCheck check = database->GetStatus().background_check();
  ASSERT_GE(check.findings_size(), 1) << check.DebugString();
  EXPECT_THAT(check.findings(check.findings_size() - 1),
              AllOf(HasSubstr("index time to live of table Things"), HasSubstr("is missing")));
  EXPECT_THAT(check.last_error(), HasSubstr("itemctl damage list"));
  database.Close();  // Logs what is new.
  EXPECT_EQ(TimesLogged(kDamageLogged), 1u) << "not in every round";
  EXPECT_EQ(TimesLogged("could not read records"), 0u);
}

// ---- failed reads of the disk ----

class FailedReads : public DamagedFilesTest {
 protected:
  void Open() {
    MakeLargeItemsInTableFiles();
    file_ = FilesOf("items").at(0);
    disk_ = std::make_shared<PowerLossFileSystem>(root_, std::make_shared<QuickDisk>());
    DatabaseOptions options = Options();
    options.file_system = disk_;
    auto database = Database::Open(options);
    ASSERT_TRUE(database.ok()) << database.status();
    database_ = *std::move(database);
  }
  void FailReads(int times) {
    const std::string path = PathOf(file_);
    disk_->Inject({.operation = InjectedFault::Operation::kRead,
                   .matches = [path](const std::string& read) { return read == path; },
                   .times = times,
                   .status = rocksdb::IOStatus::IOError("While pread offset 4096 len 100: " + path,
                                                        "Input/output error")});
  }
  absl::Status Get(int number) {
    wire::GetItemRequest request;
    request.set_table_name(kOrderTable);
    request.set_key(Encode({{"pk", S("order-" + std::to_string(number))}, {"sk", S("#")}}));
    return Await<wire::GetItemReply>([&](auto done) { database_->GetItem(request, std::move(done)); })
        .status();
  }

  std::string file_;
  std::shared_ptr<PowerLossFileSystem> disk_;
  std::unique_ptr<Database> database_;
};

TEST_F(FailedReads, AreNoDamageIfTheySucceedWhenRepeated) {
  Open();
  if (HasFatalFailure()) return;
  FailReads(1);
  const absl::Status failed = Get(7);
  EXPECT_EQ(failed.code(), absl::StatusCode::kUnavailable) << failed;
  EXPECT_THAT(MessageOf(failed),
              AllOf(HasSubstr("Input/output error"), HasSubstr(file_), Not(HasSubstr(data_))))
      << "callers on other machines are told no path";
  EXPECT_TRUE(Await([&] { return log_.str().find("succeeded when it was repeated") != std::string::npos; }));
  EXPECT_THAT(log_.str(), AllOf(HasSubstr("file=" + file_ + " "), Not(HasSubstr(kDamageLogged))));
  EXPECT_EQ(database_->GetStatus().damage().files(), 0);
  EXPECT_TRUE(Get(7).ok());
}

TEST_F(FailedReads, AreDamageIfTheyFailTwice) {
  Open();
  if (HasFatalFailure()) return;
  FailReads(1'000'000);
  EXPECT_EQ(Get(7).code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(Await([&] { return log_.str().find(kDamageLogged) != std::string::npos; }));
  EXPECT_EQ(database_->GetStatus().damage().files(), 1);
  EXPECT_THAT(log_.str(),
              AllOf(HasSubstr("offset=4096 "), HasSubstr("met_by=read"), HasSubstr("file=" + file_)));
  disk_->ClearFaults();
  EXPECT_TRUE(Get(7).ok());
}

}  // namespace
}  // namespace itemdb::testing
