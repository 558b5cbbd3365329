// EncryptedFileSystem: what RocksDB reads is what it wrote, what is on disk is not, and no keystream is used
// twice.
#include "storage/encryption/encrypted_file_system.h"

#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rocksdb/env.h"
#include "storage/encryption/file_cipher.h"
#include "tests/support/files.h"
#include "tests/support/power_loss_file_system.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::testing {
namespace {

namespace fs = std::filesystem;
using rocksdb::EnvOptions;
using storage::FileCipher;
using ::testing::HasSubstr;

constexpr uint64_t kHeader = FileCipher::kHeaderBytes;

class EncryptedFileSystemTest : public ::testing::Test {
 protected:
  static storage::EncryptionKey Key(const std::string& id) {
    return {.id = id, .secret = std::string(32, id[0])};
  }
  std::unique_ptr<rocksdb::Env> NewEnv(storage::EncryptionKeys keys) const {
    return rocksdb::NewCompositeEnv(storage::NewEncryptedFileSystem(disk_, std::move(keys)));
  }
  rocksdb::Status Write(const std::string& path, const std::string& text) const {
    return rocksdb::WriteStringToFile(env_.get(), text, path, /*should_sync=*/true);
  }
  static rocksdb::Status Read(rocksdb::Env& env, const std::string& path, std::string* text) {
    return rocksdb::ReadFileToString(&env, path, text);
  }
  std::string Text(const std::string& path) const {
    std::string text;
    const rocksdb::Status status = Read(*env_, path, &text);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return text;
  }

  static std::string MakeDirectory(const std::string& path) {
    fs::create_directory(path);
    return path;
  }

  TemporaryDirectory directory_;
  const std::string root_ = MakeDirectory(directory_.path() + "/disk");
  const std::string path_ = root_ + "/file";
  const std::shared_ptr<PowerLossFileSystem> disk_ = std::make_shared<PowerLossFileSystem>(root_);
  const std::unique_ptr<rocksdb::Env> env_ = NewEnv({Key("new"), Key("old")});
};

TEST_F(EncryptedFileSystemTest, ReadsInOrderAndAtRandomWhatWasAppended) {
  std::string contents;
  std::unique_ptr<rocksdb::WritableFile> file;
  ASSERT_TRUE(env_->NewWritableFile(path_, &file, EnvOptions()).ok());
  for (int i = 0; i < 300; ++i) {
    const std::string part(static_cast<size_t>(i * 7 % 1'000), static_cast<char>('a' + i % 26));
    ASSERT_TRUE(file->Append(part).ok());
    contents += part;
  }
  ASSERT_TRUE(file->Append(std::string(200'000, 'z')).ok());
  contents += std::string(200'000, 'z');
  EXPECT_EQ(file->GetFileSize(), contents.size());
  ASSERT_TRUE(file->Close().ok());

  uint64_t bytes = 0;
  ASSERT_TRUE(env_->GetFileSize(path_, &bytes).ok());
  EXPECT_EQ(bytes, contents.size());
  EXPECT_EQ(fs::file_size(path_), contents.size() + kHeader);
  EXPECT_EQ(Text(path_), contents);
  EXPECT_TRUE(FilesWith(root_, "aaaaaaaa").empty());
  EXPECT_TRUE(FilesWith(root_, "zzzzzzzz").empty());
  for (const bool direct : {false, true}) {
    SCOPED_TRACE(direct);
    EnvOptions options;
    options.use_direct_reads = direct;
    std::unique_ptr<rocksdb::RandomAccessFile> random;
    if (!env_->NewRandomAccessFile(path_, &random, options).ok() && direct) continue;  // tmpfs
    constexpr size_t kPage = 4096;
    alignas(kPage) static char scratch[4 * kPage];
    for (const uint64_t at : {uint64_t{0}, 5 * kPage, contents.size() / kPage * kPage}) {
      rocksdb::Slice read;
      ASSERT_TRUE(random->Read(at, sizeof(scratch), &read, scratch).ok());
      EXPECT_EQ(read.ToString(), contents.substr(at, sizeof(scratch)));
    }
  }
  std::unique_ptr<rocksdb::SequentialFile> sequential;
  ASSERT_TRUE(env_->NewSequentialFile(path_, &sequential, EnvOptions()).ok());
  ASSERT_TRUE(sequential->Skip(1'003).ok());
  char scratch[50];
  rocksdb::Slice read;
  ASSERT_TRUE(sequential->Read(sizeof(scratch), &read, scratch).ok());
  EXPECT_EQ(read.ToString(), contents.substr(1'003, sizeof(scratch)));
}

// Two texts under one keystream tell their difference without the key.
TEST_F(EncryptedFileSystemTest, AReplacedFileHasAnotherKeystream) {
  ASSERT_TRUE(Write(path_, "the same text").ok());
  const std::string first = ReadFile(path_);
  ASSERT_TRUE(Write(path_, "the same text").ok());
  const std::string second = ReadFile(path_);
  EXPECT_NE(first.substr(kHeader), second.substr(kHeader));
  std::unique_ptr<rocksdb::WritableFile> reused;
  ASSERT_TRUE(env_->ReuseWritableFile(root_ + "/reused", path_, &reused, EnvOptions()).ok());
  ASSERT_TRUE(reused->Append("the same text").ok());
  ASSERT_TRUE(reused->Close().ok());
  EXPECT_NE(ReadFile(root_ + "/reused").substr(kHeader), second.substr(kHeader));
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(EncryptedFileSystemTest, NothingIsWrittenTwiceAtOnePlace) {
  std::unique_ptr<rocksdb::WritableFile> file;
  ASSERT_TRUE(env_->NewWritableFile(path_, &file, EnvOptions()).ok());
  ASSERT_TRUE(file->Append("0123456789").ok());
  ASSERT_TRUE(file->Truncate(4).ok());
  EXPECT_FALSE(file->Append("other").ok()) << "after a cut";
  ASSERT_TRUE(file->Close().ok());
  EXPECT_EQ(Text(path_), "0123");

  ASSERT_TRUE(env_->ReopenWritableFile(path_, &file, EnvOptions()).ok());
  EXPECT_FALSE(file->Append("other").ok()) << "opened again";
  EXPECT_TRUE(file->Sync().ok());
  EXPECT_TRUE(file->Truncate(2).ok());
  ASSERT_TRUE(file->Close().ok());
  EXPECT_EQ(Text(path_), "01");

  ASSERT_TRUE(env_->NewWritableFile(path_, &file, EnvOptions()).ok());
  disk_->Inject({.operation = InjectedFault::Operation::kAppend, .matches = nullptr});
  EXPECT_FALSE(file->Append("lost").ok());
  EXPECT_FALSE(file->Append("other").ok()) << "after an error";

  std::unique_ptr<rocksdb::RandomRWFile> random;
  EXPECT_TRUE(env_->NewRandomRWFile(path_, &random, EnvOptions()).IsNotSupported());
}

TEST_F(EncryptedFileSystemTest, TellsADamagedHeaderAndAMissingKey) {
  ASSERT_TRUE(Write(path_, "text").ok());
  std::string text;
  const rocksdb::Status missing = Read(*NewEnv({Key("old")}), path_, &text);
  EXPECT_TRUE(missing.IsCorruption()) << missing.ToString();
  EXPECT_THAT(missing.ToString(), HasSubstr("another key"));

  std::string bytes = ReadFile(path_);
  for (const size_t at : {0u, 21u, 60u, 90u}) {
    SCOPED_TRACE(at);
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    WriteFile(path_, damaged);
    const rocksdb::Status status = Read(*env_, path_, &text);
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    std::unique_ptr<rocksdb::RandomAccessFile> random;
    EXPECT_FALSE(env_->NewRandomAccessFile(path_, &random, EnvOptions()).ok());
  }
  WriteFile(path_, std::string(5'000, 'p'));
  EXPECT_TRUE(Read(*env_, path_, &text).IsCorruption()) << "a file that is not encrypted";
}

TEST_F(EncryptedFileSystemTest, AFileWithAnOlderKeyIsReadAndANewOneGetsTheFirst) {
  const auto old = NewEnv({Key("old")});
  ASSERT_TRUE(rocksdb::WriteStringToFile(old.get(), "text", path_, true).ok());
  EXPECT_EQ(Text(path_), "text");
  EXPECT_EQ(storage::KeyIdOf(ReadFile(path_)), "old");
  ASSERT_TRUE(Write(path_, "text").ok());
  EXPECT_EQ(storage::KeyIdOf(ReadFile(path_)), "new");
}

// A power cut leaves any bytes in place of those that were not synced. The header was synced when the file
// was made, so a file whose header is not valid has nothing that anybody was told is there.
TEST_F(EncryptedFileSystemTest, APowerCutLeavesAWholeHeader) {
  std::unique_ptr<rocksdb::WritableFile> file;
  ASSERT_TRUE(env_->NewWritableFile(path_, &file, EnvOptions()).ok());
  std::unique_ptr<rocksdb::Directory> directory;
  ASSERT_TRUE(env_->NewDirectory(root_, &directory).ok());
  ASSERT_TRUE(directory->Fsync().ok());
  ASSERT_TRUE(file->Append("not synced").ok());
  file.reset();
  disk_->CutPowerAfter(0);
  disk_->DropUnsynced(/*seed=*/1, LostBytes::kEnd);
  EXPECT_TRUE(storage::KeyIdOf(ReadFile(path_)).has_value());
}

TEST_F(EncryptedFileSystemTest, AFileThatIsShorterThanAHeaderIsEmpty) {
  for (const size_t bytes : {0u, 1u, 4'095u, 4'096u}) {
    SCOPED_TRACE(bytes);
    WriteFile(path_, std::string(bytes, '\0'));
    EXPECT_EQ(Text(path_), "");
    uint64_t size = 1;
    ASSERT_TRUE(env_->GetFileSize(path_, &size).ok());
    EXPECT_EQ(size, 0u);
    std::unique_ptr<rocksdb::RandomAccessFile> random;
    ASSERT_TRUE(env_->NewRandomAccessFile(path_, &random, EnvOptions()).ok());
    char scratch[10];
    rocksdb::Slice read;
    ASSERT_TRUE(random->Read(0, sizeof(scratch), &read, scratch).ok());
    EXPECT_TRUE(read.empty());
  }
}

TEST_F(EncryptedFileSystemTest, FilesWithoutContentsOfTablesArePlain) {
  for (const char* name :
       {"WATERMARK", "WATERMARK.next", "SYNCED", "MANIFEST_SYNCED", "ENCRYPTION", "BALLAST"}) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(Write(root_ + "/" + name, "numbers").ok());
    EXPECT_EQ(ReadFile(root_ + "/" + name), "numbers");
    EXPECT_EQ(Text(root_ + "/" + name), "numbers");
  }
  for (const char* name :
       {"CATALOG", "CATALOG.next", "CURRENT", "000001.log", "000001.sst", "MANIFEST-000001"})
    EXPECT_FALSE(storage::IsPlainFile(root_ + "/" + name)) << name;
}

}  // namespace
}  // namespace itemdb::testing
