// Work in the background beside damaged blocks: the expiry of items and the background check go on behind
// them. A failed read is damage when it fails again.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/store/damage_register.h"
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
  // Reads of the damaged file. Only the damaged block is read again: the others are in the cache.
  std::atomic<int> reads = 0;
  const auto disk = std::make_shared<PowerLossFileSystem>(root_, std::make_shared<QuickDisk>());
  disk->Inject({.operation = InjectedFault::Operation::kRead,
                .matches = [&reads, path = PathOf(file_)](const std::string& read) {
                  if (read == path) ++reads;
                  return false;
                }});
  DatabaseOptions options = QuickOptions();
  options.file_system = disk;
  TestDatabase database(options);
  clock_.Set(TestClock::kStart + 10);
  EXPECT_TRUE(Await([&] { return Get(database, kThings - 1) == ""; }));
  EXPECT_EQ(Get(database, 0), "");
  const auto expired = [&] { return DescribeTimeToLive(*database, "Things").items_expired(); };
  EXPECT_TRUE(Await([&] { return expired() >= kThings * 3 / 4; }));
  // The index is read again and again.
  const int before = reads;
  EXPECT_TRUE(Await([&] { return reads >= before + 6; }));
  EXPECT_LT(expired(), kThings);
  // The maintenance logs it.
  EXPECT_TRUE(Await([&] { return TimesLogged(kDamageLogged) > 0; }));
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
    OpenOn(disk_, Options());
  }
  void OpenOn(const std::shared_ptr<rocksdb::FileSystem>& disk, DatabaseOptions options) {
    options.file_system = disk;
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

// A disk that fails a read of a file, and after that never answers one until Recover().
class DyingDisk : public QuickDisk {
 public:
  ~DyingDisk() override { Recover(); }
  void Fail(const std::string& file) {
    file_ = file;
    state_ = State::kFailsOnce;
  }
  void Recover() { state_ = State::kWell; }
  // Reads that wait for an answer.
  int waiting() const { return waiting_; }

  rocksdb::IOStatus NewRandomAccessFile(const std::string& path, const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                                        rocksdb::IODebugContext* dbg) override {
    rocksdb::IOStatus status = QuickDisk::NewRandomAccessFile(path, options, result, dbg);
    if (status.ok()) *result = std::make_unique<TableFile>(std::move(*result), *this, path);
    return status;
  }

 private:
  enum class State { kWell, kFailsOnce, kHangs };

  class TableFile : public rocksdb::FSRandomAccessFileOwnerWrapper {
   public:
    TableFile(std::unique_ptr<rocksdb::FSRandomAccessFile> target, DyingDisk& disk, std::string path)
        : FSRandomAccessFileOwnerWrapper(std::move(target)), disk_(disk), path_(std::move(path)) {}

    rocksdb::IOStatus Read(uint64_t offset, size_t size, const rocksdb::IOOptions& options,
                           rocksdb::Slice* result, char* scratch,
                           rocksdb::IODebugContext* dbg) const override {
      if (disk_.state_ != State::kWell && path_.ends_with(disk_.file_)) {
        State fails_once = State::kFailsOnce;
        if (disk_.state_.compare_exchange_strong(fails_once, State::kHangs))
          return rocksdb::IOStatus::IOError("While pread offset 4096 len 100: " + path_,
                                            "Input/output error");
        ++disk_.waiting_;
        while (disk_.state_ == State::kHangs) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        --disk_.waiting_;
      }
      return FSRandomAccessFileOwnerWrapper::Read(offset, size, options, result, scratch, dbg);
    }

   private:
    DyingDisk& disk_;
    const std::string path_;
  };

  // Set before `state_`.
  std::string file_;
  std::atomic<State> state_ = State::kWell;
  mutable std::atomic<int> waiting_ = 0;
};

// The maintenance thread also syncs the writes of relaxed durability, within a second.
TEST_F(FailedReads, AreRepeatedWhileMaintenanceGoesOn) {
  MakeLargeItemsInTableFiles();
  const std::string file = FilesOf("items").at(0);
  const auto disk = std::make_shared<DyingDisk>();
  DatabaseOptions options = Options();
  options.durable = false;
  OpenOn(disk, options);
  if (HasFatalFailure()) return;
  disk->Fail(file);
  EXPECT_EQ(Get(7).code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(Await([&] { return disk->waiting() > 0; }));
  for (int i = 0; i < 2; ++i) {
    wire::WriteItemRequest request;
    request.set_table_name(kOrderTable);
    request.set_key_or_item(Encode({{"pk", S("order-0" + std::to_string(i))}, {"sk", S("#")}}));
    const auto put =
        Await<wire::WriteItemReply>([&](auto done) { database_->PutItem(request, std::move(done)); });
    EXPECT_TRUE(put.ok()) << put.status();
    const uint64_t written = database_->GetStatus().change_sequence();
    EXPECT_TRUE(Await([&] { return database_->GetStatus().durable_sequence() >= written; }));
  }
  EXPECT_GT(disk->waiting(), 0);
  disk->Recover();
  EXPECT_TRUE(Await([&] { return log_.str().find("succeeded when it was repeated") != std::string::npos; }));
  EXPECT_TRUE(Get(7).ok());
  database_.reset();
}

// Each in its turn, also while one of them fails again and again.
TEST(DamageRegisterTest, RepeatsOneFailedReadAtATime) {
  storage::DamageRegister damage;
  const auto fail = [&](int offset) {
    damage.Record(rocksdb::Status::IOError(
                      "While pread offset " + std::to_string(offset) + " len 10: /data/000042.sst", "broken"),
                  storage::DamageMetBy::kRead);
  };
  std::vector<uint64_t> asked;
  const auto recheck = [&](bool fails) {
    return damage.RecheckOne([&](const storage::DamagedPlace& place) {
      asked.push_back(place.offset);
      return fails;
    });
  };
  EXPECT_FALSE(damage.HasFailedReads());
  EXPECT_FALSE(recheck(true).has_value());
  fail(100);
  fail(200);
  fail(300);
  const std::optional<storage::Damage> readable = recheck(false);
  ASSERT_TRUE(readable.has_value());
  EXPECT_EQ(readable->place.offset, 100u);
  fail(100);
  EXPECT_FALSE(recheck(true).has_value());
  EXPECT_TRUE(damage.HasFailedReads());
  EXPECT_TRUE(recheck(false).has_value());
  EXPECT_TRUE(recheck(false).has_value());
  EXPECT_FALSE(damage.HasFailedReads());
  fail(200);
  EXPECT_FALSE(damage.HasFailedReads()) << "known to be damage";
  EXPECT_THAT(asked, ::testing::ElementsAre(100u, 200u, 300u, 100u));
}

}  // namespace
}  // namespace itemdb::testing
