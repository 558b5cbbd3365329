// What a primary gives to a standby that cannot read its directories, and waiting for that standby.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "storage/api/primary_link.h"
#include "tests/storage/database/standby/standby_fixture.h"

namespace itemdb::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

absl::StatusOr<v1::ListReplicationFilesReply> List(TestDatabase& database,
                                                   const v1::ListReplicationFilesRequest& request) {
  return Await<v1::ListReplicationFilesReply>(
      [&](auto done) { database->ListReplicationFiles(request, std::move(done)); });
}

absl::StatusOr<v1::ReadReplicationFileReply> Read(TestDatabase& database, v1::ReplicationFolder folder,
                                                  const std::string& name, int64_t offset, int64_t bytes) {
  v1::ReadReplicationFileRequest request;
  request.set_folder(folder);
  request.set_name(name);
  request.set_offset(offset);
  request.set_max_bytes(bytes);
  return Await<v1::ReadReplicationFileReply>(
      [&](auto done) { database->ReadReplicationFile(request, std::move(done)); });
}

absl::StatusOr<v1::FencePrimaryReply> Fence(TestDatabase& database, const std::string& id,
                                            const std::string& primary = "") {
  v1::FencePrimaryRequest request;
  request.mutable_promotion()->set_database_id(id);
  request.set_primary_database_id(primary.empty() ? database->GetStatus().database_id() : primary);
  return Await<v1::FencePrimaryReply>([&](auto done) { database->FencePrimary(request, std::move(done)); });
}

// Copies what it is told to `directory`, as a daemon does.
class CopyingLink : public PrimaryLink {
 public:
  CopyingLink(TestDatabase* primary, std::string directory)
      : primary_(primary), directory_(std::move(directory)) {}

  absl::Status FetchBackup(const Cancellation&) override {
    v1::ListReplicationFilesRequest request;
    request.set_with_backup(true);
    return Copy(request).status();
  }
  void DropBackup() override { fs::remove_all(directory_ + "/backups"); }
  absl::Status Fence(const v1::StandbyPromotion& promotion) override {
    ITEMDB_RETURN_IF_ERROR(testing::Fence(*primary_, promotion.database_id()).status());
    return Copy({}).status();
  }
  State GetState() const override { return {}; }

  // Returns the version that was copied.
  absl::StatusOr<uint64_t> Copy(const v1::ListReplicationFilesRequest& request) {
    ITEMDB_ASSIGN_OR_RETURN(const auto list, List(*primary_, request));
    for (const v1::ReplicationFile& file : list.files()) {
      const bool is_archive = file.folder() == v1::REPLICATION_FOLDER_ARCHIVE;
      const std::string path = directory_ + (is_archive ? "/archive/" : "/backups/") + file.name();
      fs::create_directories(fs::path(path).parent_path());
      std::string content;
      while (static_cast<int64_t>(content.size()) < file.size_bytes()) {
        // Small pieces, so that files consist of several.
        ITEMDB_ASSIGN_OR_RETURN(const auto piece, Read(*primary_, file.folder(), file.name(),
                                                       static_cast<int64_t>(content.size()), 10'000));
        content += piece.content();
      }
      std::ofstream(path, std::ios::binary) << content;
    }
    return list.version();
  }

 private:
  TestDatabase* const primary_;
  const std::string directory_;
};

class ReplicationTest : public StandbyTest {
 protected:
  DatabaseOptions CopyOptions() {
    link_ = std::make_shared<CopyingLink>(primary_.get(), directory_.path() + "/copy");
    DatabaseOptions options = StandbyOptions();
    options.standby_archive = directory_.path() + "/copy/archive";
    options.standby_backups = directory_.path() + "/copy/backups";
    options.primary_link = link_;
    return options;
  }

  std::shared_ptr<CopyingLink> link_;
};

TEST_F(ReplicationTest, ACopyOfWhatIsListedIsEnoughForAStandby) {
  CreateTable();
  Write(50, 1);
  AwaitArchive();
  standby_ = std::make_unique<TestDatabase>(CopyOptions());
  Write(50, 2);
  AwaitArchive();
  ASSERT_TRUE(link_->Copy({}).ok());
  AwaitStandby();
  ExpectEqual();
  EXPECT_FALSE(fs::exists(directory_.path() + "/copy/backups"));
  // What the primary has answered before the promotion is there after it, archived or not.
  Write(50, 3);
  const std::vector<std::string> items = ScanAll(*primary_, ScanRequest("Things"));
  ASSERT_TRUE(Promote().ok());
  EXPECT_EQ(ScanAll(*standby_, ScanRequest("Things")), items);
  EXPECT_EQ(ReasonOf(Put(*primary_, "late", 1).status()), kReasonFenced);
  EXPECT_TRUE(Put(*standby_, "own", 1).ok());
}

TEST_F(ReplicationTest, OnlyFilesOfTheFoldersAreRead) {
  AwaitArchive();
  std::ofstream(directory_.path() + "/secret") << "secret";
  fs::create_symlink(directory_.path() + "/secret", backups_ + "/link");
  for (const char* name : {"../secret", "meta/../../secret", "/etc/passwd", "", "a//b", "."}) {
    for (const auto folder : {v1::REPLICATION_FOLDER_ARCHIVE, v1::REPLICATION_FOLDER_BACKUPS}) {
      const auto read = Read(*primary_, folder, name, 0, 10);
      EXPECT_EQ(ReasonOf(read.status()), kReasonValidation) << name;
      EXPECT_THAT(MessageOf(read.status()), HasSubstr("name"));
    }
  }
  EXPECT_FALSE(Read(*primary_, v1::REPLICATION_FOLDER_BACKUPS, "link", 0, 10).ok());
  EXPECT_EQ(ReasonOf(Read(*primary_, v1::REPLICATION_FOLDER_ARCHIVE, "LOCK", 0, 10).status()),
            kReasonValidation);
  EXPECT_TRUE(absl::IsNotFound(
      Read(*primary_, v1::REPLICATION_FOLDER_ARCHIVE, "segment-999999999999", 0, 10).status()));
  const auto segment = v1::REPLICATION_FOLDER_ARCHIVE;
  EXPECT_EQ(ReasonOf(Read(*primary_, segment, "segment-000000000001", -1, 10).status()), kReasonValidation);
  EXPECT_EQ(ReasonOf(Read(*primary_, segment, "segment-000000000001", 0, 0).status()), kReasonValidation);
  EXPECT_EQ(ReasonOf(Read(*primary_, segment, "segment-000000000001", 0, (4 << 20) + 1).status()),
            kReasonValidation);
  EXPECT_EQ(Read(*primary_, segment, "segment-000000000001", int64_t{1} << 40, 10)->content(), "");
  EXPECT_FALSE(Read(*primary_, v1::REPLICATION_FOLDER_UNSPECIFIED, "segment-000000000001", 0, 10).ok());
}

TEST_F(ReplicationTest, ADatabaseWithoutAnArchiveHasNothingToCopy) {
  TestDatabase other(TestDatabase::DefaultOptions(directory_.path() + "/other"));
  for (const absl::Status& status :
       {List(other, {}).status(), Read(other, v1::REPLICATION_FOLDER_ARCHIVE, "x", 0, 1).status(),
        Fence(other, "standby").status()}) {
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(MessageOf(status), HasSubstr("--archive-directory"));
  }
}

TEST_F(ReplicationTest, OfTwoPromotionsOneIsTaken) {
  AwaitArchive();
  ASSERT_TRUE(Fence(*primary_, "first").value().is_finished());
  EXPECT_TRUE(Fence(*primary_, "first").value().is_finished());
  EXPECT_EQ(ReasonOf(Fence(*primary_, "second").status()), kReasonFenced);
  EXPECT_EQ(List(*primary_, {})->promotion().database_id(), "first");
  EXPECT_EQ(ReasonOf(Fence(*primary_, "").status()), kReasonValidation);
}

TEST_F(ReplicationTest, APromotionOverAnotherDatabaseIsRefused) {
  CreateTable();
  AwaitArchive();
  const absl::Status refused = Fence(*primary_, "standby", "another database").status();
  EXPECT_EQ(ReasonOf(refused), kReasonValidation) << refused;
  EXPECT_TRUE(Put(*primary_, "p", 1).ok());
}

TEST_F(ReplicationTest, AnArchiveThatCannotBeWrittenDoesNotKeepThePrimaryWriting) {
  CreateTable();
  AwaitArchive();
  fs::create_directories(archive_ + "/PROMOTED");
  EXPECT_FALSE(Fence(*primary_, "standby").ok());
  EXPECT_EQ(ReasonOf(Put(*primary_, "p", 1).status()), kReasonFenced);
}

TEST_F(ReplicationTest, AWriteIsAnsweredWhenAStandbyHasAppliedIt) {
  CreateTable();
  primary_.reset();
  DatabaseOptions options = PrimaryOptions();
  options.standby_acknowledge = true;
  primary_ = std::make_unique<TestDatabase>(options);
  std::atomic<bool> is_answered = false;
  std::thread writer([&] {
    EXPECT_TRUE(Put(*primary_, "p", 1).ok());
    is_answered = true;
  });
  for (int i = 0; i < 3000 && ScanAll(*primary_, ScanRequest("Things")).empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  // It is visible, and archived soon; nobody has said that he has it.
  v1::ListReplicationFilesReply list;
  const uint64_t last = (*primary_)->GetStatus().change_sequence();
  for (int i = 0; i < 3000 && list.change_sequence() < last; ++i) {
    list = List(*primary_, {}).value();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(list.change_sequence(), last);
  EXPECT_FALSE(is_answered);
  v1::ListReplicationFilesRequest request;
  request.set_copied_version(list.version());
  ASSERT_TRUE(List(*primary_, request).ok());
  writer.join();
}

TEST_F(ReplicationTest, AWriteThatChangesNothingWaitsForNobody) {
  CreateTable();
  primary_.reset();
  DatabaseOptions options = PrimaryOptions();
  options.standby_acknowledge = true;
  primary_ = std::make_unique<TestDatabase>(options);
  wire::WriteItemRequest put = WriteRequest("Things", {{"pk", S("p")}, {"sk", S("1")}});
  put.set_condition_expression("attribute_exists(pk)");
  const auto reply = PutItem(*primary_, put);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_TRUE(reply->has_condition_failed());
}

TEST_F(ReplicationTest, WithoutAStandbyAWriteIsOfUnknownOutcomeAndOthersAreRefusedUntilOneAsks) {
  CreateTable();
  primary_.reset();
  DatabaseOptions options = PrimaryOptions();
  options.standby_acknowledge = true;
  primary_ = std::make_unique<TestDatabase>(options);
  const absl::Status unknown = Put(*primary_, "p", 1).status();
  EXPECT_EQ(ReasonOf(unknown), kReasonWriteOutcomeUnknown) << unknown;
  EXPECT_TRUE(absl::IsUnavailable(Put(*primary_, "p", 2).status()));
  v1::ListReplicationFilesRequest request;
  request.set_copied_version(List(*primary_, request)->version());
  ASSERT_TRUE(List(*primary_, request).ok());
  std::atomic<bool> stops = false;
  std::thread standby([&] {
    request.set_wait(true);
    while (!stops) request.set_copied_version(List(*primary_, request)->version());
  });
  EXPECT_TRUE(Put(*primary_, "p", 3).ok());
  stops = true;
  standby.join();
}

}  // namespace
}  // namespace itemdb::testing
