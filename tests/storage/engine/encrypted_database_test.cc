// Databases whose files are encrypted: what is on disk, which openings are refused, damage, new keys.
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "storage/encryption/encrypted_file_system.h"
#include "storage/encryption/environment.h"
#include "storage/encryption/file_cipher.h"
#include "storage/offline.h"
#include "tests/storage/engine/recovery_fixture.h"
#include "tests/support/await.h"
#include "tests/support/live_index.h"
#include "tests/support/power_loss_file_system.h"

namespace itemdb::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kSecretText[] = "a secret text of an item";

class EncryptedDatabaseTest : public RecoveryTest {
 protected:
  EncryptedDatabaseTest() { encryption_keys_ = KeysOf({"first"}); }

  // Attribute values, keys, names of tables, indexes and attributes. Each is written by MakeDatabase or by
  // PutSecret.
  void ExpectNothingIsReadable(const std::string& directory) const {
    for (const char* text :
         {kSecretText, "customer-1", "order-1", kOrderTable, "OrderByCustomerDate", "padding", "OPEN"})
      EXPECT_THAT(FilesWith(directory, text), IsEmpty()) << text;
  }
  static void PutSecret(Database& database, int number, size_t repetitions = 1) {
    std::string text;
    for (size_t i = 0; i < repetitions; ++i) text += std::to_string(i) + kSecretText;
    wire::WriteItemRequest request;
    request.set_table_name(kOrderTable);
    request.set_key_or_item(Encode({{"pk", S("secret-" + std::to_string(number))},
                                    {"sk", S(text)},
                                    {"customer", S("customer-1")},
                                    {"date", S(text)}}));
    auto put = Await<wire::WriteItemReply>([&](auto done) { database.PutItem(request, std::move(done)); });
    ASSERT_TRUE(put.ok()) << put.status();
  }
  static void Flush(Database& database) {
    const Cancellation never;
    ASSERT_TRUE(database.FlushBeforeStop(std::chrono::minutes(1), never).ok());
  }
  absl::StatusOr<std::unique_ptr<Database>> OpenWith(EncryptionKeys keys, bool recover_last_good = false) {
    encryption_keys_ = std::move(keys);
    DatabaseOptions options = Options(recover_last_good);
    options.encryption_keys = encryption_keys_;
    return Database::Open(std::move(options));
  }
  // The ids of the keys that files of the data directory need.
  std::vector<std::string> KeysInUse() const {
    std::vector<std::string> ids;
    for (const auto& [id, paths] : FindEncryptedFiles(data_)) ids.push_back(id);
    return ids;
  }
  bool AwaitKeysInUse(const std::vector<std::string>& ids) const {
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (KeysInUse() != ids) {
      if (std::chrono::steady_clock::now() > until) {
        for (const auto& [id, paths] : FindEncryptedFiles(data_))
          ADD_FAILURE() << id << " is needed by " << paths.size() << " files, for example " << paths.front();
        return false;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }
  // The opening is refused with one sentence, and changes nothing.
  template <typename Matcher>
  void ExpectConfigurationRefused(EncryptionKeys keys, Matcher message) {
    const std::map<std::string, std::string> before = Contents(data_);
    for (const bool recover_last_good : {false, true}) {
      auto opened = OpenWith(keys, recover_last_good);
      ASSERT_FALSE(opened.ok());
      EXPECT_EQ(opened.status().code(), absl::StatusCode::kInvalidArgument) << opened.status();
      EXPECT_THAT(MessageOf(opened.status()), AllOf(HasSubstr(data_), message));
    }
    EXPECT_TRUE(Contents(data_) == before) << "refusing changed the directory";
    for (const absl::Status& offline : {PlanRecovery(Options()).status(), InspectFiles(Options()).status()})
      EXPECT_EQ(offline.code(), absl::StatusCode::kInvalidArgument) << offline;
    EXPECT_TRUE(Contents(data_) == before) << "looking changed the directory";
  }
};

TEST_F(EncryptedDatabaseTest, NothingOfItsTablesCanBeReadOnDisk) {
  MakeDatabase();
  ExpectNothingIsReadable(data_);
  {
    auto database = Database::Open(Options());
    ASSERT_TRUE(database.ok()) << database.status();
    for (int i = 0; i < 50; ++i) PutSecret(**database, i, 20);
    ExpectNothingIsReadable(data_);
    Flush(**database);
    ExpectNothingIsReadable(data_);
  }
  auto database = Database::Open(Options());
  ASSERT_TRUE(database.ok()) << database.status();
  EXPECT_EQ(ReadOrders(**database).rows.size(), 50u + kItems);
  ExpectNothingIsReadable(data_);
  EXPECT_TRUE(HasTableFile());
}

// The sorted files of an index build, and the note of how far it is, stay when the process ends.
TEST_F(EncryptedDatabaseTest, AnInterruptedIndexBuildLeavesNothingReadable) {
  MakeDatabase();
  DatabaseOptions options = Options();
  options.index_build_bytes = 1 << 20;
  options.memtable_bytes = 1 << 20;
  auto database = Database::Open(options);
  ASSERT_TRUE(database.ok()) << database.status();
  for (int i = 0; i < 3'000; ++i) PutSecret(**database, i, 20);
  ASSERT_TRUE(
      UpdateTable(**database, CreateIndexRequest(kOrderTable, "Live", {"date:S", "customer:S"}, 1)).ok());
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  const auto has_files = [&] { return fs::exists(data_ + "/builds") && !fs::is_empty(data_ + "/builds"); };
  while (!has_files() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  database->reset();
  ASSERT_TRUE(has_files()) << "the build was not interrupted";
  ExpectNothingIsReadable(data_);
  database = Database::Open(options);
  ASSERT_TRUE(database.ok()) << database.status();
  AwaitIndexes(**database, kOrderTable);
  database->reset();  // Its files no longer come and go.
  ExpectNothingIsReadable(data_);
}

TEST_F(EncryptedDatabaseTest, ARecoveryWithLossesLeavesNothingReadable) {
  MakeDatabaseWithTwoLogs();
  Cut(Logs(data_)[0], fs::file_size(Logs(data_)[0]) / 2);
  ExpectRecovers();
  ASSERT_EQ(LastQuarantine(), 1);
  ExpectNothingIsReadable(data_);
  EXPECT_THAT(ReadFile(QuarantinePath(1) + "/README"), HasSubstr("--recover=last-good"));
}

TEST_F(EncryptedDatabaseTest, SalvageWritesAnEncryptedDatabase) {
  MakeDatabaseInTableFiles();
  const std::string target = directory_.path() + "/salvaged";
  const auto report = Salvage(Options(), target);
  ASSERT_TRUE(report.ok()) << report.status();
  ExpectNothingIsReadable(target);
  DatabaseOptions options = Options();
  options.data_directory = target;
  auto database = Database::Open(options);
  ASSERT_TRUE(database.ok()) << database.status();
  EXPECT_EQ(ReadOrders(**database, (*database)->GetStatus().change_sequence() + 1).rows.size(),
            size_t{kItems});
  database->reset();
  options.encryption_keys.clear();
  EXPECT_EQ(Database::Open(options).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(EncryptedDatabaseTest, IsNotOpenedWithoutTheRightKey) {
  MakeDatabaseInTableFiles();
  EncryptionKeys wrong = KeysOf({"first"});
  wrong.front().secret[7] ^= 1;
  {
    SCOPED_TRACE("no key");
    ExpectConfigurationRefused({}, HasSubstr("is encrypted: give --encryption-key-file with the key first"));
  }
  {
    SCOPED_TRACE("another secret");
    ExpectConfigurationRefused(wrong, HasSubstr("is not the key first that encrypted"));
  }
  {
    SCOPED_TRACE("another key");
    ExpectConfigurationRefused(KeysOf({"second"}), HasSubstr("encrypted with the key first, which"));
  }
  // The files say the same as ENCRYPTION.
  fs::remove(data_ + "/ENCRYPTION");
  {
    SCOPED_TRACE("no key, without ENCRYPTION");
    ExpectConfigurationRefused({}, HasSubstr("is encrypted: give --encryption-key-file with the key first"));
  }
  {
    SCOPED_TRACE("another secret, without ENCRYPTION");
    ExpectConfigurationRefused(wrong, HasSubstr("is not the key first that encrypted"));
  }
  auto opened = OpenWith(KeysOf({"first"}));
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_TRUE(fs::exists(data_ + "/ENCRYPTION"));
  EXPECT_EQ(ReadOrders(**opened).rows.size(), size_t{kItems});
}

TEST_F(EncryptedDatabaseTest, APlainDatabaseIsNotOpenedWithAKey) {
  encryption_keys_.clear();
  MakeDatabaseInTableFiles();
  {
    auto opened = OpenWith({});
    ASSERT_TRUE(opened.ok()) << opened.status();
    PutSecret(**opened, 1);
    EXPECT_THAT(FilesWith(data_, kSecretText), Not(IsEmpty())) << "the search for text finds nothing";
    Flush(**opened);
  }
  EXPECT_THAT(FilesWith(data_, kSecretText), Not(IsEmpty())) << "the search finds nothing in table files";
  ExpectConfigurationRefused(KeysOf({"first"}),
                             AllOf(HasSubstr("is not encrypted"), HasSubstr("make a backup")));
  auto opened = OpenWith({});
  EXPECT_TRUE(opened.ok()) << opened.status();
}

TEST_F(EncryptedDatabaseTest, AnUnknownFormatOfTheEncryptionIsRefused) {
  MakeDatabase();
  WriteFile(data_ + "/ENCRYPTION", "itemdb encryption 2\nsomething else\n");
  ExpectRefused(absl::StatusCode::kFailedPrecondition, kReasonFormatUnknown, HasSubstr("newer"));
}

// A power cut between ENCRYPTION and the first file of the database.
TEST_F(EncryptedDatabaseTest, ADirectoryWithNothingButEncryptionBecomesADatabase) {
  MakeDatabase();
  for (const auto& entry : fs::directory_iterator(data_))
    if (entry.path().filename() != "ENCRYPTION") fs::remove_all(entry.path());
  auto opened = OpenWith({});
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kInvalidArgument);
  opened = OpenWith(KeysOf({"first"}));
  ASSERT_TRUE(opened.ok()) << opened.status();
}

// Flipping a bit of encrypted bytes flips the same bit of what they mean: the checksums tell.
TEST_F(EncryptedDatabaseTest, AFlippedByteIsDamage) {
  MakeDatabaseInTableFiles();
  Save();
  int damaged = 0;
  for (const std::string& file : TableFiles()) {
    for (const uint64_t at : {uint64_t{60}, FileCipher::kHeaderBytes + 20}) {
      SCOPED_TRACE(file + " " + std::to_string(at));
      Restore();
      Flip(data_ + "/rocksdb/" + file, at);
      auto opened = Database::Open(Options());
      if (!opened.ok()) {
        EXPECT_EQ(opened.status().code(), absl::StatusCode::kDataLoss) << opened.status();
        ++damaged;
        continue;
      }
      auto page = Await<storage::Page>([&](auto done) {
        wire::PageRequest request;
        request.set_table_name(kOrderTable);
        (*opened)->Scan(request, std::move(done));
      });
      auto check =
          Await<v1::CheckDatabaseReply>([&](auto done) { (*opened)->CheckDatabase({}, std::move(done)); });
      const bool is_told = !page.ok() || !check.ok() || check->finding_count() > 0;
      EXPECT_TRUE(page.ok() || page.status().code() == absl::StatusCode::kDataLoss) << page.status();
      damaged += is_told;
    }
  }
  // RocksDB does not read a few families here, such as the client request tokens.
  EXPECT_GE(damaged, 8);
  Restore();
  for (const uint64_t at : {uint64_t{60}, FileCipher::kHeaderBytes + 9}) {
    SCOPED_TRACE(at);
    Restore();
    encryption_keys_ = KeysOf({"first"});
    for (const auto& entry : fs::directory_iterator(data_ + "/rocksdb"))
      if (entry.path().filename().string().starts_with("MANIFEST-0")) Flip(entry.path(), at);
    ExpectRefused(absl::StatusCode::kDataLoss, kReasonDataLoss, HasSubstr("--recover=last-good"));
  }
}

// RocksDB reads the header of a file only when it opens the file.
TEST_F(EncryptedDatabaseTest, TheFileCheckFindsADamagedHeaderAndDamagedContents) {
  MakeDatabaseInTableFiles();
  Save();
  for (const uint64_t at : {uint64_t{60}, FileCipher::kHeaderBytes + 1}) {
    SCOPED_TRACE(at);
    Restore();
    DatabaseOptions options = Options();
    options.file_check_bytes_per_second = 1 << 30;
    options.check_interval = std::chrono::milliseconds(1);
    auto database = Database::Open(options);
    ASSERT_TRUE(database.ok()) << database.status();
    const std::string file = TableFiles().front();
    Flip(data_ + "/rocksdb/" + file, at);
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while ((*database)->GetStatus().file_check().finding_count() == 0 &&
           std::chrono::steady_clock::now() < until)
      std::this_thread::yield();
    ASSERT_GT((*database)->GetStatus().file_check().findings_size(), 0);
    EXPECT_THAT((*database)->GetStatus().file_check().findings(0), HasSubstr(file));
  }
}

// Nothing of a file with a damaged header can be read: it is lost, as if it were missing.
TEST_F(EncryptedDatabaseTest, ADamagedHeaderIsRecoveredFrom) {
  MakeDatabaseInTableFiles();
  Save();
  const uint64_t last_sequence = last_sequence_;
  for (const char* prefix : {"CURRENT", "MANIFEST-0"}) {
    for (const uint64_t at : {3, 16, 22, 60, 100}) {
      SCOPED_TRACE(prefix + std::to_string(at));
      Restore();
      last_sequence_ = last_sequence;
      for (const auto& entry : fs::directory_iterator(data_ + "/rocksdb"))
        if (entry.path().filename().string().starts_with(prefix)) Flip(entry.path(), at);
      ExpectDataLoss(HasSubstr(data_));
      const auto plan = PlanRecovery(Options());
      EXPECT_TRUE(plan.ok()) << plan.status();
      EXPECT_EQ(ExpectRecovers(), kItems);
      if (HasFailure()) return;
    }
  }
}

TEST_F(EncryptedDatabaseTest, ACutOrFlippedLogIsRefused) {
  MakeDatabase();
  Save();
  const fs::path log = Logs(data_)[0];
  const uint64_t size = fs::file_size(log);
  for (const uint64_t at : {uint64_t{70}, FileCipher::kHeaderBytes + 3, size / 2, size - 2}) {
    SCOPED_TRACE(at);
    Restore();
    Flip(log, at);
    ExpectDataLoss(HasSubstr(data_));
    Restore();
    Cut(log, at);
    ExpectDataLoss(HasSubstr(data_));
  }
}

// Bytes after the last acknowledged group were never synced: zeros and garbage are dropped as without
// encryption.
TEST_F(EncryptedDatabaseTest, ATornTailIsDropped) {
  MakeDatabase();
  Save();
  const fs::path log = Logs(data_)[0];
  for (const std::string& tail : {std::string(5'000, '\0'), std::string(5'000, 'g'), std::string(3, '\1')}) {
    Restore();
    WriteFile(log, ReadFile(log) + tail);
    auto opened = Database::Open(Options());
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ(ReadOrders(**opened).rows.size(), size_t{kItems});
    // What is written now must not come under the keystream of what was dropped.
    ASSERT_TRUE(Put(**opened, kItems + 1).ok());
    EXPECT_NE(Logs(data_).back(), log);
  }
}

TEST_F(EncryptedDatabaseTest, ANewKeyReplacesTheOldOneInAllFiles) {
  MakeDatabaseInTableFiles();
  {
    auto opened = OpenWith(KeysOf({"first"}));
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_TRUE(Await([&] { return (*opened)->GetStatus().has_encryption(); }));
    EXPECT_EQ((*opened)->GetStatus().encryption().old_files(), 0);
    ASSERT_TRUE(Put(**opened, kItems + 1).ok());
  }
  ASSERT_EQ(KeysInUse(), std::vector<std::string>{"first"});
  {
    SCOPED_TRACE("the new key alone");
    ExpectConfigurationRefused(KeysOf({"second"}), HasSubstr("add that key"));
  }
  {
    auto opened = OpenWith(KeysOf({"second", "first"}));
    ASSERT_TRUE(opened.ok()) << opened.status();
    ASSERT_TRUE(AwaitKeysInUse({"second"}));
    EXPECT_EQ(ReadOrders(**opened).rows.size(), size_t{kItems} + 1);
    EXPECT_TRUE(
        Await([&] { return log_.str().find("need only the first encryption key") != std::string::npos; }));
    EXPECT_THAT(log_.str(), HasSubstr("are being rewritten percent="));
    const v1::EncryptionStatus encryption = (*opened)->GetStatus().encryption();
    EXPECT_EQ(encryption.key_id(), "second");
    EXPECT_EQ(encryption.old_files(), 0);
    EXPECT_GT(encryption.rewritten_files(), 0);
  }
  auto opened = OpenWith(KeysOf({"second"}));
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(ReadOrders(**opened).rows.size(), size_t{kItems} + 1);
  opened->reset();
  const auto files = InspectFiles(Options());
  ASSERT_TRUE(files.ok()) << files.status();
  for (const FileReport& file : *files)
    EXPECT_EQ(file.key_id, IsPlainFile(file.name) || file.bytes == 0 ? "" : "second") << file.name;
}

TEST_F(EncryptedDatabaseTest, ARotationThatIsInterruptedGoesOn) {
  MakeDatabaseInTableFiles();
  for (int i = 0; i < 5; ++i) {
    auto opened = OpenWith(KeysOf({"second", "first"}));
    ASSERT_TRUE(opened.ok()) << opened.status();
  }
  auto opened = OpenWith(KeysOf({"third", "second", "first"}));
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_TRUE(AwaitKeysInUse({"third"}));
  EXPECT_EQ(ReadOrders(**opened).rows.size(), size_t{kItems});
}

}  // namespace
}  // namespace itemdb::testing
