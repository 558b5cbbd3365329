// Exports of tables: the operations, the files, and what the end of the process leaves.
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "storage/base/table_arn.h"
#include "tests/storage/database/backup/table_backup_fixture.h"
#include "tests/support/files.h"

namespace itemdb::testing {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

constexpr char kThingsArn[] = "arn:aws:dynamodb:local:000000000000:table/Things";

class ExportTest : public TableBackupTest {
 protected:
  DatabaseOptions Options() const override {
    DatabaseOptions options = TableBackupTest::Options();
    options.export_directory = exports_;
    return options;
  }
  void SetUp() override {
    fs::create_directories(exports_ + "/bucket");
    TableBackupTest::SetUp();
    database_->CreateTable(TableRequest("Things"));
    ASSERT_TRUE(SetRecovery("Things", true).ok());
    // Earlier states can be restored once there is a backup to begin with.
    while (Recovery("Things")->earliest_restorable_time_ms() >=
           Recovery("Things")->latest_restorable_time_ms())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  static v1::ExportTableToPointInTimeRequest Request() {
    v1::ExportTableToPointInTimeRequest request;
    request.set_table_arn(kThingsArn);
    request.set_s3_bucket("bucket");
    return request;
  }
  absl::StatusOr<v1::ExportDescription> Start(const v1::ExportTableToPointInTimeRequest& request) {
    auto reply = Await<v1::ExportTableToPointInTimeReply>(
        [&](auto done) { database().ExportTableToPointInTime(request, std::move(done)); });
    if (!reply.ok()) return reply.status();
    return reply->description();
  }
  absl::StatusOr<v1::ExportDescription> DescribeExport(const std::string& arn) {
    v1::DescribeExportRequest request;
    request.set_export_arn(arn);
    auto reply = Await<v1::DescribeExportReply>(
        [&](auto done) { database().DescribeExport(request, std::move(done)); });
    if (!reply.ok()) return reply.status();
    return reply->description();
  }
  absl::StatusOr<v1::ListExportsReply> ListExports(const v1::ListExportsRequest& request = {}) {
    return Await<v1::ListExportsReply>([&](auto done) { database().ListExports(request, std::move(done)); });
  }
  // Waits until the export has ended.
  v1::ExportDescription AwaitExport(const std::string& arn) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (true) {
      auto described = DescribeExport(arn);
      EXPECT_TRUE(described.ok()) << described.status();
      if (!described.ok()) return {};
      if (described->export_status() != v1::EXPORT_STATUS_IN_PROGRESS ||
          std::chrono::steady_clock::now() > until)
        return *described;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  v1::ExportDescription Make(const v1::ExportTableToPointInTimeRequest& request) {
    auto begun = Start(request);
    EXPECT_TRUE(begun.ok()) << begun.status();
    return begun.ok() ? AwaitExport(begun->export_arn()) : v1::ExportDescription();
  }
  void Put(const std::string& pk, const std::string& sk, const std::string& text = "t") {
    ASSERT_TRUE(database_->Put("Things", {{"pk", S(pk)}, {"sk", S(sk)}, {"text", S(text)}}).ok());
  }
  // The paths of all files of the bucket, relative to it.
  std::set<std::string> Files() const {
    std::set<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(exports_ + "/bucket"))
      if (entry.is_regular_file()) files.insert(fs::relative(entry.path(), exports_ + "/bucket"));
    return files;
  }
  std::string Contents(const std::string& key) const { return ReadFile(exports_ + "/bucket/" + key); }
  static std::string IdOf(const v1::ExportDescription& description) {
    return description.export_arn().substr(description.export_arn().rfind('/') + 1);
  }

  const std::string exports_ = directory_.path() + "/exports";
};

TEST_F(ExportTest,
       HasTheFilesOfTheServiceAndOurManifest) {  // XPT-08..10, XPT-15, XPT-30, XPT-32..37, XPT-39..42, XPT-48
  for (int i = 0; i < 50; ++i) Put("p" + std::to_string(i), "1");
  v1::ExportTableToPointInTimeRequest request = Request();
  request.set_s3_prefix("some/where");
  const auto begun = Start(request);
  ASSERT_TRUE(begun.ok()) << begun.status();
  EXPECT_EQ(begun->export_status(), v1::EXPORT_STATUS_IN_PROGRESS);
  EXPECT_EQ(begun->export_time_ms(), begun->start_time_ms());
  EXPECT_EQ(begun->request().export_format(), v1::EXPORT_FORMAT_DYNAMODB_JSON);
  EXPECT_EQ(begun->request().s3_sse_algorithm(), "AES256");
  EXPECT_THAT(begun->request().client_token(), SizeIs(36));
  EXPECT_THAT(begun->export_arn(), MatchesRegex(std::string(kThingsArn) + "/export/[0-9]{14}-[0-9a-f]{8}"));
  const v1::ExportDescription made = AwaitExport(begun->export_arn());
  ASSERT_EQ(made.export_status(), v1::EXPORT_STATUS_COMPLETED) << made.failure_message();
  EXPECT_EQ(made.item_count(), 50);
  EXPECT_EQ(made.billed_size_bytes(), Describe(*database_, "Things").table_size_bytes());
  EXPECT_GE(made.end_time_ms(), made.start_time_ms());
  const std::string folder = "some/where/AWSDynamoDB/" + IdOf(made) + "/";
  EXPECT_EQ(made.export_manifest(), folder + "manifest-summary.json");
  int data = 0;
  std::set<std::string> others;
  for (const std::string& file : Files()) {
    if (!file.starts_with(folder + "data/")) {
      others.insert(file.substr(folder.size()));
      continue;
    }
    ++data;
    EXPECT_THAT(file.substr(folder.size()), MatchesRegex("data/[a-z2-7]{26}\\.json\\.gz"));
    EXPECT_EQ(Contents(file).substr(0, 10), std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", 10));
  }
  EXPECT_EQ(data, 4);
  EXPECT_EQ(others,
            (std::set<std::string>{"_started", "itemdb-manifest.json", "manifest-files.json",
                                   "manifest-files.md5", "manifest-summary.json", "manifest-summary.md5"}));
  EXPECT_EQ(Contents(folder + "_started"), "");
  EXPECT_THAT(
      Contents(folder + "manifest-summary.json"),
      MatchesRegex(
          R"(\{"version":"2020-06-30","exportArn":".*/export/[-0-9a-f]*","startTime":"[-0-9]*T[0-9:]*\.[0-9]{3}Z",)"
          R"("endTime":"[^"]*Z","tableArn":"arn:aws:dynamodb:local:000000000000:table/Things",)"
          R"("tableId":"[-0-9a-f]*","exportTime":"[^"]*Z","s3Bucket":"bucket","s3Prefix":"some/where",)"
          R"("s3SseAlgorithm":"AES256","s3SseKmsKeyId":null,"manifestFilesS3Key":"some/where/AWSDynamoDB/)"
          R"([-0-9a-f]*/manifest-files\.json","billedSizeBytes":[0-9]*,"itemCount":50,)"
          R"("outputFormat":"DYNAMODB_JSON"\}.)"));
}

TEST_F(ExportTest, IsOfTheStateOfTheCallAndOfEarlierTimes) {  // XPT-05, XPT-18
  for (int i = 0; i < 20; ++i) Put("p", std::to_string(i));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const int64_t time_ms = Recovery("Things")->latest_restorable_time_ms();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  for (int i = 0; i < 30; ++i) Put("q", std::to_string(i));
  const auto now = Start(Request());
  ASSERT_TRUE(now.ok()) << now.status();
  Put("later", "1");
  EXPECT_EQ(AwaitExport(now->export_arn()).item_count(), 50);
  v1::ExportTableToPointInTimeRequest request = Request();
  request.set_export_time_ms(time_ms);
  const v1::ExportDescription earlier = Make(request);
  EXPECT_EQ(earlier.export_status(), v1::EXPORT_STATUS_COMPLETED) << earlier.failure_message();
  EXPECT_EQ(earlier.item_count(), 20);
  EXPECT_EQ(earlier.export_time_ms(), time_ms);
  EXPECT_LT(earlier.change_sequence(), now->change_sequence());
  EXPECT_GT(earlier.change_sequence(), 0u);
  for (const int64_t bad : {time_ms + 3'600'000, int64_t{1}}) {
    request.set_export_time_ms(bad);
    EXPECT_THAT(Start(request).status(), FailsWith("INVALID_EXPORT_TIME", "Export Time is invalid"));
  }
}

// The process ends between the reply and the end of the export.
TEST_F(ExportTest, BeginsAgainAtTheNextStart) {  // XPT-07
  for (int i = 0; i < 2'000; ++i) Put("p" + std::to_string(i % 7), std::to_string(i));
  DatabaseOptions slow = Options();
  slow.backup_bytes_per_second = 10'000;
  Open(slow);
  const auto begun = Start(Request());
  ASSERT_TRUE(begun.ok()) << begun.status();
  Put("later", "1");
  EXPECT_EQ(DescribeExport(begun->export_arn())->export_status(), v1::EXPORT_STATUS_IN_PROGRESS);
  Open(Options());
  const v1::ExportDescription made = AwaitExport(begun->export_arn());
  EXPECT_EQ(made.export_status(), v1::EXPORT_STATUS_COMPLETED) << made.failure_message();
  EXPECT_EQ(made.item_count(), 2'000);
  EXPECT_EQ(made.change_sequence(), begun->change_sequence());
  EXPECT_THAT(Files(), SizeIs(10));
}

TEST_F(ExportTest, FailsForABucketThatIsMissingOrCannotBeWritten) {  // XPT-12
  Put("p", "1");
  v1::ExportTableToPointInTimeRequest request = Request();
  request.set_s3_bucket("missing");
  v1::ExportDescription failed = Make(request);
  EXPECT_EQ(failed.export_status(), v1::EXPORT_STATUS_FAILED);
  EXPECT_EQ(failed.failure_code(), "S3NoSuchBucket");
  EXPECT_THAT(failed.failure_message(), HasSubstr("The specified bucket does not exist"));
  EXPECT_GT(failed.end_time_ms(), 0);
  EXPECT_EQ(failed.export_manifest(), "");
  // A symbolic link out of the directory is no bucket, and no folder of one.
  fs::create_directory_symlink(directory_.path(), exports_ + "/link");
  request.set_s3_bucket("link");
  EXPECT_EQ(Make(request).failure_code(), "S3AccessDenied");
  fs::create_directory_symlink(directory_.path(), exports_ + "/bucket/inside");
  request = Request();
  request.set_s3_prefix("inside");
  EXPECT_EQ(Make(request).failure_code(), "S3AccessDenied");
  EXPECT_THAT(Files(), IsEmpty());
  for (const char* prefix : {"..", "../a", "a/../b", "a//b", "/a", "."}) {
    request.set_s3_prefix(prefix);
    EXPECT_EQ(ReasonOf(Start(request).status()), "VALIDATION") << prefix;
  }
  // The database goes on.
  EXPECT_EQ(Make(Request()).item_count(), 1);
}

TEST_F(ExportTest, ErrorsComeInTheOrderOfTheService) {  // XPT-01..03, PIT-07
  v1::ExportTableToPointInTimeRequest request = Request();
  request.set_table_arn("Things");
  EXPECT_THAT(
      Start(request).status(),
      FailsWith("VALIDATION", "One or more parameter values were invalid: tableArn is not a valid ARN"));
  request.set_table_arn("");
  EXPECT_THAT(Start(request).status(), FailsWith("VALIDATION", "Invalid TableArn: Invalid Table ARN"));
  request.set_table_arn(std::string(kThingsArn) + "/index/Index");
  EXPECT_THAT(Start(request).status(), FailsWith("VALIDATION", "Invalid Request: Table ARN is invalid."));
  request.set_table_arn("arn:aws:dynamodb:local:123456789012:table/Things");
  EXPECT_THAT(Start(request).status(), FailsWith("ACCESS_DENIED", "Access is denied"));
  const std::string elsewhere = "arn:aws:dynamodb:eu-west-1:000000000000:table/Things";
  request.set_table_arn(elsewhere);
  EXPECT_THAT(Start(request).status(), FailsWith("TABLE_NOT_FOUND", "Table not found: " + elsewhere));
  request.set_table_arn(storage::TableArn("Nothing"));
  request.set_s3_sse_kms_key_id("key");
  EXPECT_THAT(Start(request).status(),
              FailsWith("TABLE_NOT_FOUND", "Table not found: " + storage::TableArn("Nothing")));
  database_->CreateTable(TableRequest("Plain"));
  request.set_table_arn(storage::TableArn("Plain"));
  EXPECT_THAT(
      Start(request).status(),
      FailsWith("VALIDATION", "Invalid Request: KMS Key Id is not supported for this encryption type"));
  request.clear_s3_sse_kms_key_id();
  request.set_export_time_ms(1);
  EXPECT_THAT(Start(request).status(), FailsWith("POINT_IN_TIME_RECOVERY_UNAVAILABLE",
                                                 "Point in time recovery is not enabled for table 'Plain'"));
  EXPECT_THAT(ListExports()->exports(), IsEmpty());
}

TEST_F(ExportTest, AClientTokenBeginsOneExport) {  // XPT-11
  v1::ExportTableToPointInTimeRequest request = Request();
  request.set_client_token("token");
  const v1::ExportDescription first = Make(request);
  v1::ExportTableToPointInTimeRequest same = request;
  same.set_export_format(v1::EXPORT_FORMAT_DYNAMODB_JSON);  // The default.
  same.set_export_type(v1::EXPORT_TYPE_FULL_EXPORT);
  EXPECT_EQ(Start(same)->export_arn(), first.export_arn());
  Open(Options());
  EXPECT_EQ(Start(request)->export_arn(), first.export_arn());
  request.set_s3_prefix("other");
  EXPECT_THAT(Start(request).status(),
              FailsWith("EXPORT_CONFLICT",
                        "Export conflict: Duplicate request detected with conflicting parameters"));
}

TEST_F(ExportTest, IsDescribedAndListedWithoutItsTable) {  // XPT-13, XPT-14
  std::vector<std::string> arns;
  for (int i = 0; i < 3; ++i) {
    arns.push_back(Make(Request()).export_arn());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  v1::ListExportsRequest page;
  page.set_max_results(2);
  auto listed = ListExports(page);
  ASSERT_THAT(listed->exports(), SizeIs(2));
  EXPECT_EQ(listed->exports(0).export_arn(), arns[0]);
  page.set_next_token(listed->next_token());
  listed = ListExports(page);
  ASSERT_THAT(listed->exports(), SizeIs(1));
  EXPECT_EQ(listed->exports(0).export_arn(), arns[2]);
  EXPECT_EQ(listed->next_token(), "");
  v1::ListExportsRequest of_table;
  of_table.set_table_arn(kThingsArn);
  EXPECT_EQ(ListExports(of_table)->exports(0).export_arn(), arns[2]);
  ASSERT_TRUE(DeleteTable(*database_, "Things").ok());
  Open(Options());
  EXPECT_EQ(DescribeExport(arns[1])->export_status(), v1::EXPORT_STATUS_COMPLETED);
  EXPECT_THAT(ListExports()->exports(), SizeIs(3));
  // A table of the same name is another one.
  database_->CreateTable(TableRequest("Things"));
  EXPECT_THAT(ListExports(of_table)->exports(), IsEmpty());

  page.set_next_token("token");
  EXPECT_THAT(ListExports(page).status(),
              FailsWith("VALIDATION", "Invalid Request: Provided nextToken is invalid: token"));
  page.set_max_results(26);
  EXPECT_EQ(ReasonOf(ListExports(page).status()), "VALIDATION");
  const std::string missing = std::string(kThingsArn) + "/export/01700000000000-0123abcd";
  EXPECT_THAT(DescribeExport(missing).status(),
              FailsWith("EXPORT_NOT_FOUND", "Export not found: Export not found: " + missing));
  EXPECT_THAT(DescribeExport(std::string(kThingsArn) + "/backup/01700000000000-0123abcd").status(),
              FailsWith("VALIDATION", "Invalid Export ARN"));
}

}  // namespace
}  // namespace itemdb::testing
