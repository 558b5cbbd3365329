// Exports to and imports from an S3 endpoint, by the real itemd: whole, killed, stopped, and refused.
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "itemdb/bulk_writer.h"
#include "tests/e2e/changed_export.h"
#include "tests/e2e/e2e_fixture.h"
#include "tests/s3/s3_process.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace itemdb::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// All of one partition key, so that one file has more than a part of an upload.
constexpr int kLargeItems = 3'600;
constexpr size_t kLargeItemBytes = 4'000;

class S3E2e : public E2eTest {
 protected:
  S3E2e() {
    server_.MakeBucket("bucket");
    testing::WriteFile(credentials_, std::string("# comment\n[other]\naws_access_key_id = X\n[default]\n") +
                                         "aws_access_key_id = " + testing::kS3KeyId +
                                         "\naws_secret_access_key=" + testing::kS3Secret + "\n");
    EXPECT_EQ(chmod(credentials_.c_str(), 0600), 0);
  }
  std::vector<std::string> Arguments() const {
    return {"--s3-endpoint",    "http://" + server_.address(), "--s3-region",
            testing::kS3Region, "--s3-credentials-file",       credentials_};
  }
  void SetUp() override {
    // The same address after each start.
    daemon_.set_listen({"unix:" + directory_.path() + "/s"});
    const absl::Status started = daemon_.Start(Arguments());
    ASSERT_TRUE(started.ok()) << started;
  }
  void MakeTable(int items) {
    Client client = OpenClient();
    ASSERT_TRUE(client
                    .CreateTable({.table_name = "Things",
                                  .attribute_definitions = {{"pk", ScalarAttributeType::kString},
                                                            {"sk", ScalarAttributeType::kNumber}},
                                  .key_schema = {{"pk", KeyType::kHash}, {"sk", KeyType::kRange}}})
                    .ok());
    ASSERT_EQ(Itemctl({"pitr", "enable", "Things"}).exit_code, 0);
    BulkWriter writer(client);
    std::mt19937_64 random(7);
    for (int i = 0; i < items; ++i) {
      std::string text(kLargeItemBytes, '\0');
      for (char& c : text) c = static_cast<char>('0' + random() % 64);
      ASSERT_TRUE(writer.Put("Things", Item{{"pk", "p"}, {"sk", Number(int64_t{i})}, {"text", text}}).ok());
    }
    ASSERT_TRUE(writer.Finish().ok());
  }
  Json Read(const std::string& manifest) const {
    const CommandResult read = RunProgram(
        "/usr/bin/python3",
        {testing::SourcePath("tests/exports/read_export.py"), server_.BucketPath("bucket"), manifest});
    EXPECT_EQ(read.exit_code, 0) << read.err;
    return read.exit_code == 0 ? Json::parse(read.out) : Json();
  }
  template <typename Condition>
  static void AwaitThat(Condition condition, const std::string& what) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
    while (!condition()) {
      ASSERT_LT(std::chrono::steady_clock::now(), until) << what;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  // Begins an export that stops in the middle of an upload.
  ExportDescription HangInAnUpload() {
    server_.SetFaults(R"([{"method": "PUT", "target": "partNumber=2", "action": "hang"}])");
    Client client = OpenClient();
    auto begun = client.ExportTableToPointInTime({.table_arn = kArn, .s3_bucket = "bucket"});
    EXPECT_TRUE(begun.ok()) << begun.status();
    AwaitThat([&] { return !server_.Requests("partNumber=1").empty(); }, "an upload");
    EXPECT_EQ(server_.Uploads(), 1u);
    return begun.value_or(ExportDescription());
  }
  ExportDescription AwaitExport(const std::string& arn) {
    ExportDescription ended;
    AwaitThat(
        [&] {
          const auto described = OpenClient().DescribeExport(arn);
          EXPECT_TRUE(described.ok()) << described.status();
          ended = described.value_or(ExportDescription());
          return !described.ok() || ended.export_status != ExportStatus::kInProgress;
        },
        arn + " to end");
    return ended;
  }

  static constexpr char kArn[] = "arn:aws:dynamodb:local:000000000000:table/Things";
  testing::S3Process server_;
  const std::string credentials_ = directory_.path() + "/s3-credentials";
};

TEST_F(S3E2e, AnExportIsImportedAsTheSameItems) {
  MakeTable(kLargeItems);
  const Json made =
      Document({"-o", "jsonl", "export", "start", "Things", "bucket", "--prefix", "some/where", "--wait"});
  ASSERT_EQ(made["ExportStatus"], "COMPLETED") << made;
  const std::string manifest = made["ExportManifest"];
  EXPECT_EQ(Read(manifest)["items"].size(), static_cast<size_t>(kLargeItems));
  EXPECT_THAT(server_.Requests("partNumber=2"), SizeIs(1));
  EXPECT_EQ(server_.Uploads(), 0u);
  EXPECT_FALSE(fs::exists(daemon_.data_directory() + "/exports"));

  const std::string table = directory_.path() + "/table.json";
  testing::WriteFile(table, kCopyOfThings);
  const Json imported =
      Document({"-o", "jsonl", "import", "start", "-f", table, "bucket", "--prefix",
                manifest.substr(0, manifest.rfind('/')) + "/data/", "--compression", "GZIP", "--wait"});
  EXPECT_EQ(imported["ImportStatus"], "COMPLETED") << imported;
  EXPECT_EQ(imported["ImportedItemCount"], kLargeItems);
  const std::vector<std::string> scan = {"-o", "jsonl", "scan", "Things", "--typed"};
  EXPECT_TRUE(Lines(scan) == Lines({"-o", "jsonl", "scan", "Copy", "--typed"}));
  ExpectCheckIsClean();
}

TEST_F(S3E2e, ABulkPutReadsItsItemsThereAndWritesItsReport) {
  MakeTable(100);
  const Json made = Document({"-o", "jsonl", "export", "start", "Things", "bucket", "--wait"});
  const std::string data =
      std::string(made["ExportManifest"]).substr(0, std::string(made["ExportManifest"]).rfind('/')) +
      "/data/";
  ASSERT_EQ(Itemctl({"item", "delete", "Things", R"({"pk": "p", "sk": 7})"}).exit_code, 0);
  // The first answers are errors after which it tries again.
  server_.SetFaults(R"([{"method": "GET", "target": "/data/", "action": "503", "times": 2}])");
  const Json ended = Document({"-o", "jsonl", "bulk-put", "start", "Things", "bucket", "--prefix", data,
                               "--compression", "GZIP", "--wait"});
  EXPECT_EQ(ended["BulkOperationStatus"], "COMPLETED");
  EXPECT_EQ(ended["WrittenItemCount"], 100);
  EXPECT_EQ(Document({"-o", "jsonl", "count", "Things"})["Count"], 100);
  const std::string arn = ended["BulkOperationArn"];
  const std::string manifest = "AWSDynamoDB/bulk/" + arn.substr(arn.rfind('/') + 1) + "/manifest.json";
  const Json report = Json::parse(testing::ReadFile(server_.BucketPath("bucket") + "/" + manifest));
  EXPECT_EQ(report["writtenItemCount"], 100);
  const CommandResult failed = Itemctl({"-o", "jsonl", "bulk-put", "start", "Things", "nowhere", "--wait"});
  EXPECT_NE(failed.exit_code, 0);
  EXPECT_THAT(failed.err, HasSubstr("S3NoSuchBucket"));
}

// IMP-15: what the store says of its objects is not relied on.
TEST_F(S3E2e, ChangedFilesOfAnExportAreNeitherImportedNorPut) {
  MakeTable(100);
  const std::vector<std::string> scan = {"-o", "jsonl", "scan", "Things", "--typed"};
  const std::vector<Json> items = Lines(scan);
  const Json made = Document({"-o", "jsonl", "export", "start", "Things", "bucket", "--wait"});
  const std::string manifest = made["ExportManifest"];
  const std::string data = manifest.substr(0, manifest.rfind('/')) + "/data/";
  ChangeExportedItems(server_.BucketPath("bucket") + "/" + data);
  ExpectChangedExportIsRefused([&](auto arguments) { return Itemctl(arguments); }, directory_.path(), data);
  EXPECT_TRUE(Lines(scan) == items);
}

// XPT-07: after kill -9 the export is made again, and the upload that was left is ended.
TEST_F(S3E2e, AKilledExportIsMadeAgain) {
  MakeTable(kLargeItems);
  const ExportDescription begun = HangInAnUpload();
  daemon_.Kill();
  EXPECT_EQ(server_.Uploads(), 1u);
  server_.SetFaults("[]");
  ASSERT_TRUE(daemon_.Start(Arguments()).ok());
  const ExportDescription ended = AwaitExport(begun.export_arn);
  ASSERT_EQ(ended.export_status, ExportStatus::kCompleted) << ended.failure_message;
  EXPECT_EQ(ended.change_sequence, begun.change_sequence);
  EXPECT_EQ(Read(ended.export_manifest)["items"].size(), static_cast<size_t>(kLargeItems));
  EXPECT_EQ(server_.Uploads(), 0u);
}

// A store that does not answer does not keep itemd from stopping.
TEST_F(S3E2e, StoppingEndsATransfer) {
  MakeTable(kLargeItems);
  const ExportDescription begun = HangInAnUpload();
  EXPECT_EQ(daemon_.Terminate(), 0);
  server_.SetFaults("[]");
  ASSERT_TRUE(daemon_.Start(Arguments()).ok());
  EXPECT_EQ(AwaitExport(begun.export_arn).export_status, ExportStatus::kCompleted);
  EXPECT_EQ(server_.Uploads(), 0u);
}

// XPT-12, IMP-09. A key that is replaced is used without a restart.
TEST_F(S3E2e, FailuresHaveTheCodesOfTheService) {
  MakeTable(1);
  const auto code = [&](const std::string& bucket) -> std::string {
    const CommandResult made = Itemctl({"-o", "jsonl", "export", "start", "Things", bucket, "--wait"});
    const Json described = Document({"-o", "jsonl", "export", "describe", "Things"});
    EXPECT_EQ(made.exit_code == 0, described["ExportStatus"] == "COMPLETED") << described;
    return described.value("FailureCode", "");
  };
  EXPECT_EQ(code("missing"), "S3NoSuchBucket");
  EXPECT_EQ(code("bucket"), "");
  const std::string good = testing::ReadFile(credentials_);
  testing::WriteFile(credentials_, "[default]\naws_access_key_id = OTHER\naws_secret_access_key = x\n");
  EXPECT_EQ(code("bucket"), "S3AccessDenied");
  EXPECT_THAT(Itemctl({"export", "describe", "Things"}).out, HasSubstr("does not know the access key OTHER"));
  testing::WriteFile(credentials_, good);
  EXPECT_EQ(code("bucket"), "");
}

TEST_F(S3E2e, StartsThatAreRefused) {
  daemon_.Terminate();
  const std::string open_file = directory_.path() + "/open";
  testing::WriteFile(open_file, testing::ReadFile(credentials_));
  ASSERT_EQ(chmod(open_file.c_str(), 0644), 0);
  const std::string empty = directory_.path() + "/empty";
  testing::WriteFile(empty, "[profile x]\naws_access_key_id = k\n");
  ASSERT_EQ(chmod(empty.c_str(), 0600), 0);
  const std::string url = "http://" + server_.address();
  const std::vector<std::pair<std::vector<std::string>, std::string>> refused = {
      {{"--s3-endpoint", url}, "also give --s3-credentials-file"},
      {{"--s3-credentials-file", credentials_}, "only with --s3-endpoint"},
      {{"--s3-ca-file", credentials_}, "only with --s3-endpoint"},
      {{"--s3-endpoint", "s3.example.com", "--s3-credentials-file", credentials_},
       "is not the address of an S3 endpoint"},
      {{"--s3-endpoint", url, "--s3-credentials-file", credentials_, "--export-directory", "/tmp"},
       "not together with --export-directory"},
      {{"--s3-endpoint", url, "--s3-credentials-file", open_file}, "everybody on this machine may use it"},
      {{"--s3-endpoint", url, "--s3-credentials-file", empty},
       "has no aws_access_key_id in a profile [default]"},
      {{"--s3-endpoint", url, "--s3-credentials-file", "/missing"}, "cannot be read"},
  };
  for (const auto& [arguments, message] : refused) {
    const CommandResult result = daemon_.RunToEnd(arguments);
    EXPECT_NE(result.exit_code, 0);
    EXPECT_THAT(result.out + result.err + daemon_.log(), HasSubstr(message));
    EXPECT_THAT(result.out + result.err, ::testing::Not(HasSubstr(testing::kS3Secret)));
  }
}

}  // namespace
}  // namespace itemdb::e2e
