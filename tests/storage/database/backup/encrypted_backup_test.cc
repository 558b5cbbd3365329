// Backups of encrypted databases, and of others that are restored into encrypted ones.
#include <filesystem>
#include <random>

#include "gmock/gmock.h"
#include "spdlog/spdlog.h"
#include "storage/restore.h"
#include "tests/storage/database/requests.h"
#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class EncryptedBackupTest : public ::testing::Test {
 protected:
  void Open(EncryptionKeys keys) {
    DatabaseOptions options = TestDatabase::DefaultOptions(directory_.path() + "/data");
    options.backup_directory = backups_;
    options.encryption_keys = std::move(keys);
    database_.reset();
    database_ = std::make_unique<TestDatabase>(options);
  }
  // The items have about `bytes` of text that does not compress.
  void Fill(int items, size_t bytes) {
    database_->CreateTable(TableRequest("SecretTable"));
    std::mt19937 random(1);
    for (int i = 0; i < items; ++i) {
      std::string text = "secret text ";
      while (text.size() < bytes) text += static_cast<char>('!' + random() % 90);
      auto put = database_->Put("SecretTable",
                                {{"pk", S("secret key")}, {"sk", S(std::to_string(i))}, {"text", S(text)}});
      ASSERT_TRUE(put.ok()) << put.status();
    }
  }
  absl::StatusOr<v1::DatabaseBackup> Create() {
    return Await<v1::DatabaseBackup>(
        [&](auto done) { (**database_).CreateDatabaseBackup({}, std::move(done), nullptr); });
  }
  absl::StatusOr<v1::DatabaseBackup> Verify() {
    return Await<v1::DatabaseBackup>(
        [&](auto done) { (**database_).VerifyDatabaseBackup({}, std::move(done), nullptr); });
  }
  absl::Status Restore(const std::string& to, EncryptionKeys keys) {
    return RestoreDatabase({.backup_directory = backups_,
                            .data_directory = to,
                            .encryption_keys = std::move(keys),
                            .log = database_->options().log})
        .status();
  }
  std::vector<std::string> Items(const std::string& directory, EncryptionKeys keys) {
    DatabaseOptions options = TestDatabase::DefaultOptions(directory);
    options.encryption_keys = std::move(keys);
    TestDatabase database(options);
    database.CheckIsClean();
    return ScanAll(database, ScanRequest("SecretTable"));
  }
  static void ExpectNothingIsReadable(const std::string& directory) {
    for (const char* text : {"secret text", "secret key", "SecretTable"})
      EXPECT_THAT(FilesWith(directory, text), IsEmpty()) << text;
  }
  uint64_t BytesOfBackups() const {
    uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(backups_))
      if (entry.is_regular_file()) bytes += entry.file_size();
    return bytes;
  }

  TemporaryDirectory directory_;
  const std::string backups_ = directory_.path() + "/backups";
  const std::string restored_ = directory_.path() + "/restored";
  std::unique_ptr<TestDatabase> database_;
};

TEST_F(EncryptedBackupTest, IsEncryptedSharesFilesAndIsRestoredWithTheKey) {
  Open(KeysOf({"key"}));
  Fill(40, 50'000);
  const Cancellation never;
  ASSERT_TRUE((**database_).FlushBeforeStop(std::chrono::minutes(1), never).ok());
  ASSERT_TRUE(Create().ok());
  const uint64_t bytes = BytesOfBackups();
  ASSERT_TRUE(Create().ok());
  EXPECT_LT(BytesOfBackups(), bytes + bytes / 10) << "table files were copied again";
  EXPECT_TRUE(Verify().ok()) << Verify().status();
  ExpectNothingIsReadable(backups_);
  const std::vector<std::string> items = ScanAll(*database_, ScanRequest("SecretTable"));

  const absl::Status without = Restore(restored_, {});
  EXPECT_EQ(without.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(MessageOf(without),
              HasSubstr(backups_ + " is encrypted: give --encryption-key-file with the key key"));
  EXPECT_EQ(Restore(restored_, KeysOf({"other"})).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(restored_)) << "a refused restore has made something";
  const absl::Status restored = Restore(restored_, KeysOf({"key"}));
  ASSERT_TRUE(restored.ok()) << restored;
  ExpectNothingIsReadable(restored_);
  EXPECT_EQ(Items(restored_, KeysOf({"key"})), items);
  // With another key first the restored files need only that.
  const std::string other = directory_.path() + "/other";
  ASSERT_TRUE(Restore(other, KeysOf({"newer", "key"})).ok());
  EXPECT_EQ(Items(other, KeysOf({"newer"})), items);
}

// This is how a database that is not encrypted becomes one that is.
TEST_F(EncryptedBackupTest, APlainBackupIsRestoredIntoAnEncryptedDatabase) {
  Open({});
  Fill(10, 1'000);
  ASSERT_TRUE(Create().ok());
  EXPECT_THAT(FilesWith(backups_, "secret text"), Not(IsEmpty()));
  const std::vector<std::string> items = ScanAll(*database_, ScanRequest("SecretTable"));
  const absl::Status restored = Restore(restored_, KeysOf({"key"}));
  ASSERT_TRUE(restored.ok()) << restored;
  ExpectNothingIsReadable(restored_);
  EXPECT_EQ(Items(restored_, KeysOf({"key"})), items);
}

TEST_F(EncryptedBackupTest, ADirectoryHasBackupsOfOneKind) {
  Open({});
  Fill(1, 100);
  ASSERT_TRUE(Create().ok());
  database_.reset();
  std::filesystem::remove_all(directory_.path() + "/data");
  Open(KeysOf({"key"}));
  const auto refused = Create();
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument) << refused.status();
  EXPECT_THAT(MessageOf(refused.status()), AllOf(HasSubstr(backups_), HasSubstr("is not encrypted")));
  EXPECT_FALSE(std::filesystem::exists(backups_ + "/ENCRYPTION"));
}

// The files that an interrupted backup has left need the old key.
TEST_F(EncryptedBackupTest, GoesOnWithFilesOfAnOlderKeyUntilBackupsArePruned) {
  Open(KeysOf({"old"}));
  Fill(20, 50'000);
  const std::vector<std::string> items = ScanAll(*database_, ScanRequest("SecretTable"));
  const Cancellation never;
  ASSERT_TRUE((**database_).FlushBeforeStop(std::chrono::minutes(1), never).ok());
  const auto interrupt = [&] {
    ASSERT_TRUE(Create().ok());
    std::filesystem::remove_all(backups_ + "/meta");
    std::filesystem::remove_all(backups_ + "/ended");
  };
  interrupt();
  Open(KeysOf({"new", "old"}));
  const auto backup = Create();
  ASSERT_TRUE(backup.ok()) << backup.status();
  EXPECT_TRUE(Verify().ok()) << Verify().status();
  ASSERT_TRUE(Restore(restored_, KeysOf({"new", "old"})).ok());
  EXPECT_EQ(Items(restored_, KeysOf({"new", "old"})), items);

  interrupt();
  v1::DeleteDatabaseBackupsRequest prune;
  prune.set_keep_newest(1);
  const auto pruned = Await<v1::DeleteDatabaseBackupsReply>(
      [&](auto done) { (**database_).DeleteDatabaseBackups(prune, std::move(done)); });
  ASSERT_TRUE(pruned.ok()) << pruned.status();
  EXPECT_TRUE(std::filesystem::is_empty(backups_ + "/shared_checksum"));
  EXPECT_FALSE(std::filesystem::exists(backups_ + "/resumed"));
}

TEST_F(EncryptedBackupTest, AFlippedByteIsFoundByVerify) {
  Open(KeysOf({"key"}));
  Fill(10, 1'000);
  ASSERT_TRUE(Create().ok());
  for (const auto& entry : std::filesystem::recursive_directory_iterator(backups_ + "/shared_checksum")) {
    const std::string whole = ReadFile(entry.path());
    for (const size_t at : {size_t{70}, whole.size() / 2, whole.size() - 1}) {
      if (at == whole.size() / 2 && at < 4'096) continue;  // The zeros of the header.
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ 4);
      WriteFile(entry.path(), flipped);
      EXPECT_EQ(Verify().status().code(), absl::StatusCode::kDataLoss) << entry.path() << " " << at;
    }
    WriteFile(entry.path(), whole);
  }
  EXPECT_TRUE(Verify().ok());
}

}  // namespace
}  // namespace itemdb::testing
