// itemd --encryption-key-file: nothing of the tables can be read on disk, refused starts, backups, new keys.
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <thread>

#include "tests/e2e/e2e_fixture.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace itemdb::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class EncryptionTest : public E2eTest {
 protected:
  void SetUp() override {
    WriteKeys("november " + std::string(64, 'a') + "\n");
    ASSERT_NO_FATAL_FAILURE(Start());
  }
  void Start() {
    const absl::Status started = daemon_.Start(Arguments());
    ASSERT_TRUE(started.ok()) << started;
  }
  std::vector<std::string> Arguments() const {
    return {"--backup-directory", backups_, "--encryption-key-file", keys_};
  }
  void WriteKeys(const std::string& text) const {
    testing::WriteFile(keys_, text);
    ASSERT_EQ(chmod(keys_.c_str(), 0600), 0);
  }
  static CommandResult Itemd(const std::vector<std::string>& arguments) {
    return RunProgram(testing::ProgramPath("itemd"), arguments);
  }
  // The order-entry data and an item are stored: names of tables and attributes, keys, values.
  void ExpectNothingIsReadable(const std::string& directory) const {
    for (const char* text : {"plain-text-of-an-item", "plain-key-of-an-item", "Order", "customer", "C#1"})
      EXPECT_THAT(testing::FilesWith(directory, text), IsEmpty()) << text;
  }
  std::map<std::string, std::string> Contents() const {
    std::map<std::string, std::string> contents;
    for (const auto& entry : fs::recursive_directory_iterator(daemon_.data_directory()))
      contents[entry.path()] = entry.is_regular_file() ? testing::ReadFile(entry.path()) : "(directory)";
    return contents;
  }
  void ExpectStartRefused(const std::vector<std::string>& arguments, const std::string& message) {
    SCOPED_TRACE(message);
    const auto before = Contents();
    const CommandResult refused = daemon_.RunToEnd(arguments);
    EXPECT_EQ(refused.exit_code, 64) << refused.err;
    EXPECT_THAT(refused.err + daemon_.log(), HasSubstr(message));
    EXPECT_TRUE(Contents() == before) << "the directory was changed";
  }

  const std::string keys_ = directory_.path() + "/keys";
  const std::string backups_ = directory_.path() + "/backups";
  const std::string restored_ = directory_.path() + "/restored";
};

TEST_F(EncryptionTest, NothingOfTheTablesIsOnDisk) {
  LoadOrderEntry();
  const std::string item = R"({"PK": "plain-key-of-an-item", "SK": "1", "text": "plain-text-of-an-item"})";
  ASSERT_EQ(Itemctl({"item", "put", "Order", item}).exit_code, 0);
  ExpectNothingIsReadable(daemon_.data_directory());
  daemon_.Kill();
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_EQ(Itemctl({"backup", "create"}).exit_code, 0);
  ASSERT_EQ(Itemctl({"backup", "verify"}).exit_code, 0);
  ExpectNothingIsReadable(daemon_.data_directory());
  ExpectNothingIsReadable(backups_);
  ExpectCheckIsClean();
  ASSERT_EQ(daemon_.Terminate(), 0);
  ExpectNothingIsReadable(daemon_.data_directory());
  ASSERT_NO_FATAL_FAILURE(Start());
  EXPECT_THAT(Itemctl({"item", "get", "Order", R"({"PK": "plain-key-of-an-item", "SK": "1"})"}).out,
              HasSubstr("plain-text-of-an-item"));
  // Nor in what itemd logs.
  EXPECT_THAT(daemon_.log(), AllOf(Not(HasSubstr("plain-text")), Not(HasSubstr(std::string(20, 'a')))));
}

TEST_F(EncryptionTest, StartsWithoutTheRightKeyAreRefusedWithOneSentence) {
  LoadOrderEntry();
  ASSERT_EQ(daemon_.Terminate(), 0);
  ExpectStartRefused(
      {}, daemon_.data_directory() + " is encrypted: give --encryption-key-file with the key november");
  WriteKeys("november " + std::string(64, 'b') + "\n");
  ExpectStartRefused({"--encryption-key-file", keys_}, "is not the key november that encrypted");
  WriteKeys("december " + std::string(64, 'a') + "\n");
  ExpectStartRefused({"--encryption-key-file", keys_}, "encrypted with the key november, which");
  WriteKeys("november " + std::string(64, 'a') + "\n");
  ASSERT_EQ(chmod(keys_.c_str(), 0644), 0);
  ExpectStartRefused({"--encryption-key-file", keys_}, "chmod 0600 " + keys_);
  WriteKeys("november 1234\n");
  ExpectStartRefused({"--encryption-key-file", keys_},
                     keys_ + ":1: a line is an id and 64 hexadecimal digits");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"inspect", daemon_.data_directory()},
        {"salvage", daemon_.data_directory(), restored_},
        {"--data-dir", daemon_.data_directory(), "--recover=plan"}}) {
    const CommandResult refused = Itemd(command);
    EXPECT_EQ(refused.exit_code, 64) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("is encrypted: give --encryption-key-file"));
  }
  WriteKeys("november " + std::string(64, 'a') + "\n");
  const CommandResult inspected =
      Itemd({"inspect", daemon_.data_directory(), "--encryption-key-file", keys_});
  EXPECT_EQ(inspected.exit_code, 0) << inspected.err;
  EXPECT_THAT(inspected.out, HasSubstr("november"));

  fs::remove_all(daemon_.data_directory());
  ASSERT_TRUE(daemon_.Start().ok());
  LoadOrderEntry();
  ASSERT_EQ(daemon_.Terminate(), 0);
  EXPECT_THAT(testing::FilesWith(daemon_.data_directory(), "Order"), Not(IsEmpty()));
  ExpectStartRefused({"--encryption-key-file", keys_}, daemon_.data_directory() + " is not encrypted");
}

TEST_F(EncryptionTest, ABackupIsRestoredWithItsKeyOnly) {
  LoadOrderEntry();
  ASSERT_EQ(Itemctl({"backup", "create"}).exit_code, 0);
  const std::string items = Itemctl({"-o", "jsonl", "scan", "Order"}).out;
  const CommandResult refused = Itemd({"restore", backups_, restored_});
  EXPECT_EQ(refused.exit_code, 64);
  EXPECT_THAT(refused.err,
              HasSubstr(backups_ + " is encrypted: give --encryption-key-file with the key november"));
  const CommandResult restored = Itemd({"restore", backups_, restored_, "--encryption-key-file", keys_});
  ASSERT_EQ(restored.exit_code, 0) << restored.err;
  ExpectNothingIsReadable(restored_);
  daemon_.Kill();
  fs::remove_all(daemon_.data_directory());
  fs::rename(restored_, daemon_.data_directory());
  ASSERT_NO_FATAL_FAILURE(Start());
  EXPECT_EQ(Itemctl({"-o", "jsonl", "scan", "Order"}).out, items);
}

// A new key comes first in the file; when the log says so, the old one may go.
TEST_F(EncryptionTest, AKeyIsReplaced) {
  LoadOrderEntry();
  ASSERT_EQ(daemon_.Terminate(), 0);
  const std::string old_key = "november " + std::string(64, 'a') + "\n";
  const std::string new_key = "december " + std::string(64, 'd') + "\n";
  WriteKeys("# the new key first\n" + new_key + old_key);
  ASSERT_NO_FATAL_FAILURE(Start());
  const std::string items = Itemctl({"-o", "jsonl", "scan", "Order"}).out;
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (daemon_.log().find("need only the first encryption key") == std::string::npos &&
         std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  daemon_.Kill();
  WriteKeys(new_key);
  ASSERT_NO_FATAL_FAILURE(Start());
  EXPECT_EQ(Itemctl({"-o", "jsonl", "scan", "Order"}).out, items);
  ExpectCheckIsClean();
  ExpectNothingIsReadable(daemon_.data_directory());
}

}  // namespace
}  // namespace itemdb::e2e
