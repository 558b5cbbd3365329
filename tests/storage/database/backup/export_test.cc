// Exports of tables: the operations, the files, and what the end of the process leaves.
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

#include "absl/time/clock.h"
#include "storage/base/table_arn.h"
#include "tests/s3/s3_process.h"
#include "tests/storage/database/backup/table_backup_fixture.h"
#include "tests/storage/values/random_item.h"
#include "tests/support/files.h"

namespace itemdb::testing {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

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
    AwaitEarlierStates();
  }
  // Earlier states can be restored once there is a backup to begin with and its time is known.
  void AwaitEarlierStates() {
    const auto has_earlier_states = [&] {
      const auto recovery = Recovery("Things");
      return recovery->earliest_restorable_time_ms() < recovery->latest_restorable_time_ms();
    };
    while (!has_earlier_states()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
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
  // The lines of the data files, without their ends.
  std::vector<std::string> LinesOf(const v1::ExportDescription& description) const {
    EXPECT_EQ(description.export_status(), v1::EXPORT_STATUS_COMPLETED) << description.failure_message();
    std::vector<std::string> lines;
    if (description.export_manifest().empty()) return lines;
    const std::string folder =
        description.export_manifest().substr(0, description.export_manifest().rfind('/') + 1);
    const std::string manifest = Contents(folder + "manifest-files.json");
    const std::regex key("\"dataFileS3Key\":\"([^\"]*)\"");
    for (auto it = std::sregex_iterator(manifest.begin(), manifest.end(), key); it != std::sregex_iterator();
         ++it) {
      const std::string command = "gzip -dc '" + exports_ + "/bucket/" + (*it)[1].str() + "'";
      FILE* const pipe = popen(command.c_str(), "r");
      std::string text;
      for (int c; (c = std::fgetc(pipe)) != EOF;) text.push_back(static_cast<char>(c));
      EXPECT_EQ(pclose(pipe), 0) << command;
      std::istringstream in(text);
      for (std::string line; std::getline(in, line);) lines.push_back(line);
    }
    return lines;
  }
  // Imports the data of an export as a new table, and returns how that ended.
  v1::ImportDescription ImportOf(const v1::ExportDescription& made, const std::string& table) {
    v1::ImportTableRequest import;
    import.mutable_s3_bucket_source()->set_s3_bucket("bucket");
    const std::string& manifest = made.export_manifest();
    import.mutable_s3_bucket_source()->set_s3_key_prefix(manifest.substr(0, manifest.rfind('/')) + "/data/");
    const bool ion = made.request().export_format() == v1::EXPORT_FORMAT_ION;
    import.set_input_format(ion ? v1::INPUT_FORMAT_ION : v1::INPUT_FORMAT_DYNAMODB_JSON);
    import.set_input_compression_type(v1::INPUT_COMPRESSION_TYPE_GZIP);
    *import.mutable_table_creation_parameters() = TableRequest(table);
    const auto begun =
        Await<v1::ImportTableReply>([&](auto done) { database().ImportTable(import, std::move(done)); });
    EXPECT_TRUE(begun.ok()) << begun.status();
    if (!begun.ok()) return {};
    v1::DescribeImportRequest describe;
    describe.set_import_arn(begun->import().import_arn());
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (true) {
      const auto described = database().DescribeImport(describe);
      EXPECT_TRUE(described.ok()) << described.status();
      if (!described.ok()) return {};
      if (described->import().import_status() != v1::IMPORT_STATUS_IN_PROGRESS ||
          std::chrono::steady_clock::now() > until)
        return described->import();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  static std::string IdOf(const v1::ExportDescription& description) {
    return description.export_arn().substr(description.export_arn().rfind('/') + 1);
  }

  // Where the buckets are folders.
  std::string exports_ = directory_.path() + "/exports";
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

// XPT-16: key condition, filter, projection; also of an earlier state, and after a restart.
TEST_F(ExportTest, AFilterSelectsItemsAndAttributes) {
  for (int i = 0; i < 10; ++i)
    Put("p" + std::to_string(i % 2), std::to_string(i), "t" + std::to_string(i % 3));
  v1::ExportTableToPointInTimeRequest request = Request();
  v1::FilterSpecification* filter = request.mutable_filter_specification();
  EXPECT_THAT(Start(request).status(),
              FailsWith("VALIDATION",
                        "Invalid Request: Invalid FilterSpecification: The specification can not be empty"));
  filter->set_key_condition_expression("pk = :p AND sk > :s");
  (*filter->mutable_expression_attribute_values())[":p"].set_s("p1");
  (*filter->mutable_expression_attribute_values())[":s"].set_s("1");
  EXPECT_THAT(LinesOf(Make(request)), SizeIs(4));
  filter->set_filter_expression("#t = :t");
  filter->set_projection_expression("#t");
  (*filter->mutable_expression_attribute_names())["#t"] = "text";
  (*filter->mutable_expression_attribute_values())[":t"].set_s("t0");
  EXPECT_THAT(LinesOf(Make(request)),
              UnorderedElementsAre(R"({"Item":{"text":{"S":"t0"}}})", R"({"Item":{"text":{"S":"t0"}}})"));
  request.set_export_time_ms(Recovery("Things")->latest_restorable_time_ms());
  const v1::ExportDescription made = Make(request);
  EXPECT_THAT(LinesOf(made), SizeIs(2));
  EXPECT_EQ(made.item_count(), 2);
  filter->set_filter_expression("sk = :t AND #t = :t");
  EXPECT_EQ(ReasonOf(Start(request).status()), "VALIDATION");
}

// A clock that the test moves ahead of the real one.
class IncrementalExportTest : public ExportTest {
 protected:
  DatabaseOptions Options() const override {
    DatabaseOptions options = ExportTest::Options();
    options.clock_us = [this] { return absl::ToUnixMicros(absl::Now()) + ahead_us_; };
    return options;
  }
  int64_t NowMs() const { return (absl::ToUnixMicros(absl::Now()) + ahead_us_) / 1'000; }
  void PassMinutes(int minutes) { ahead_us_ += int64_t{minutes} * 60 * 1'000'000; }
  static v1::ExportTableToPointInTimeRequest Changes(int64_t from_ms) {
    v1::ExportTableToPointInTimeRequest request = Request();
    request.set_export_type(v1::EXPORT_TYPE_INCREMENTAL_EXPORT);
    request.mutable_incremental_export_specification()->set_export_from_time_ms(from_ms);
    return request;
  }
  void Delete(const std::string& pk) {
    ASSERT_TRUE(database_->Delete("Things", {{"pk", S(pk)}, {"sk", S("1")}}).ok());
  }
  // Writes items before a time, and changes of each kind after it. Returns the time.
  int64_t WriteBeforeAndAfter() {
    for (const char* pk : {"same", "updated", "deleted", "back", "again"}) Put(pk, "1", "old");
    PassMinutes(20);
    const int64_t from_ms = NowMs();
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    Put("updated", "1", "new");
    Put("inserted", "1", "new");
    Delete("deleted");
    Put("gone", "1", "new");
    Delete("gone");
    Put("back", "1", "new");
    Put("back", "1", "old");
    Delete("again");
    Put("again", "1", "new");
    PassMinutes(20);
    return from_ms;
  }
  // A line without the digits of its time, which must lie in a range.
  static std::string Timeless(const std::string& line, int64_t from_ms, int64_t to_ms) {
    std::smatch match;
    EXPECT_TRUE(std::regex_search(line, match, std::regex("[0-9]{16}"))) << line;
    if (match.empty()) return line;
    const int64_t time_ms = std::stoll(match[0]) / 1'000;
    EXPECT_TRUE(time_ms >= from_ms && time_ms <= to_ms) << line;
    return std::string(match.prefix()) + "T" + std::string(match.suffix());
  }
  std::vector<std::string> TimelessLines(const v1::ExportDescription& made, int64_t from_ms, int64_t to_ms) {
    std::vector<std::string> lines;
    for (const std::string& line : LinesOf(made)) lines.push_back(Timeless(line, from_ms, to_ms));
    return lines;
  }
  // The parts of a line of the item `pk`.
  static std::string Keys(const std::string& pk) {
    return R"({"Metadata":{"WriteTimestampMicros":{"N":"T"}},"Keys":{"pk":{"S":")" + pk +
           R"("},"sk":{"S":"1"}})";
  }
  static std::string Image(const std::string& name, const std::string& pk, const std::string& text) {
    return ",\"" + name + R"(":{"pk":{"S":")" + pk + R"("},"sk":{"S":"1"},"text":{"S":")" + text + "\"}}";
  }

  std::atomic<int64_t> ahead_us_ = 0;
};

TEST_F(IncrementalExportTest, HasALineForEachItemThatWasWritten) {  // XPT-31, XPT-38, XPT-44, XPT-45
  const int64_t from_ms = WriteBeforeAndAfter();
  const v1::ExportDescription made = Make(Changes(from_ms));
  ASSERT_EQ(made.export_status(), v1::EXPORT_STATUS_COMPLETED) << made.failure_message();
  EXPECT_EQ(made.export_time_ms(), 0);
  const v1::IncrementalExportSpecification& filled = made.request().incremental_export_specification();
  EXPECT_EQ(filled.export_to_time_ms(), made.start_time_ms());
  EXPECT_EQ(filled.export_view_type(), v1::EXPORT_VIEW_TYPE_NEW_AND_OLD_IMAGES);
  const std::string old = "OldImage", now = "NewImage";
  EXPECT_THAT(TimelessLines(made, from_ms, made.start_time_ms()),
              UnorderedElementsAre(
                  Keys("updated") + Image(old, "updated", "old") + Image(now, "updated", "new") + "}",
                  Keys("inserted") + Image(now, "inserted", "new") + "}",
                  Keys("deleted") + Image(old, "deleted", "old") + "}",
                  Keys("back") + Image(old, "back", "old") + Image(now, "back", "old") + "}",
                  Keys("again") + Image(old, "again", "old") + Image(now, "again", "new") + "}"));
  EXPECT_EQ(made.item_count(), 5);
  int data = 0;
  for (const std::string& file : Files())
    data += std::regex_match(file, std::regex("AWSDynamoDB/data/[a-z2-7]{26}\\.json\\.gz")) ? 1 : 0;
  EXPECT_EQ(data, 4);
  const std::string summary = Contents(made.export_manifest());
  EXPECT_THAT(summary, HasSubstr(R"({"version":"2023-08-01",)"));
  EXPECT_THAT(summary, HasSubstr(R"(,"exportFromTime":"20)"));
  EXPECT_THAT(summary, HasSubstr(R"(,"outputView":"NEW_AND_OLD_IMAGES","exportType":"INCREMENTAL_EXPORT"})"));

  v1::ExportTableToPointInTimeRequest request = Changes(from_ms);
  request.mutable_incremental_export_specification()->set_export_view_type(v1::EXPORT_VIEW_TYPE_NEW_IMAGE);
  EXPECT_THAT(TimelessLines(Make(request), from_ms, NowMs()),
              UnorderedElementsAre(Keys("updated") + Image(now, "updated", "new") + "}",
                                   Keys("inserted") + Image(now, "inserted", "new") + "}",
                                   Keys("deleted") + "}", Keys("back") + Image(now, "back", "old") + "}",
                                   Keys("again") + Image(now, "again", "new") + "}"));
}

TEST_F(IncrementalExportTest, OfAnEarlierWindowAndInIon) {  // XPT-04, XPT-47
  const int64_t from_ms = WriteBeforeAndAfter();
  const int64_t to_ms = NowMs();
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  Put("later", "1");
  Put("updated", "1", "later");
  PassMinutes(10);
  v1::ExportTableToPointInTimeRequest request = Changes(from_ms);
  request.mutable_incremental_export_specification()->set_export_to_time_ms(to_ms);
  EXPECT_THAT(TimelessLines(Make(request), from_ms, to_ms), SizeIs(5));
  request.set_export_format(v1::EXPORT_FORMAT_ION);
  // XPT-17: deleted items are selected by their old image; keys are never projected away.
  v1::FilterSpecification* filter = request.mutable_filter_specification();
  filter->set_filter_expression("pk IN (:a, :b)");
  filter->set_projection_expression("#t");
  (*filter->mutable_expression_attribute_names())["#t"] = "text";
  (*filter->mutable_expression_attribute_values())[":a"].set_s("updated");
  (*filter->mutable_expression_attribute_values())[":b"].set_s("deleted");
  const v1::ExportDescription made = Make(request);
  EXPECT_EQ(made.item_count(), 2) << made.failure_message();
  EXPECT_THAT(TimelessLines(made, from_ms, to_ms),
              UnorderedElementsAre(
                  R"($ion_1_0 {Record:{Metadata:{WriteTimestampMicros:T.},Keys:{pk:"updated",sk:"1"},)"
                  R"(OldImage:{text:"old"},NewImage:{text:"new"}}})",
                  R"($ion_1_0 {Record:{Metadata:{WriteTimestampMicros:T.},Keys:{pk:"deleted",sk:"1"},)"
                  R"(OldImage:{text:"old"}}})"));
}

TEST_F(IncrementalExportTest, BeginsAgainAtTheNextStart) {
  const int64_t from_ms = WriteBeforeAndAfter();
  DatabaseOptions slow = Options();
  slow.backup_bytes_per_second = 10;
  Open(slow);
  AwaitEarlierStates();
  const auto begun = Start(Changes(from_ms));
  ASSERT_TRUE(begun.ok()) << begun.status();
  Put("later", "1");
  Open(Options());
  const v1::ExportDescription made = AwaitExport(begun->export_arn());
  EXPECT_EQ(made.export_status(), v1::EXPORT_STATUS_COMPLETED) << made.failure_message();
  EXPECT_EQ(made.item_count(), 5);
  // The change after it is not in the window.
  EXPECT_GT(made.change_sequence(), 0u);
  EXPECT_EQ(made.request().incremental_export_specification().export_to_time_ms(), begun->start_time_ms());
}

// Windows that follow each other have each write once, although writes go on.
TEST_F(IncrementalExportTest, NothingIsLostBetweenWindows) {
  Put("p", "0");
  PassMinutes(20);
  int64_t from_ms = NowMs();
  std::atomic<bool> stops = false;
  std::atomic<int> puts = 0;
  std::thread writer([&] {
    for (; !stops; ++puts) Put("q" + std::to_string(puts.load()), "1");
  });
  std::multiset<std::string> keys;
  const auto add = [&](const v1::ExportDescription& made) {
    const std::regex key("\"Keys\":\\{\"pk\":\\{\"S\":\"([^\"]*)\"");
    for (const std::string& line : LinesOf(made)) {
      std::smatch match;
      if (std::regex_search(line, match, key)) keys.insert(match[1]);
    }
    from_ms = made.request().incremental_export_specification().export_to_time_ms();
  };
  for (int i = 0; i < 4; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    PassMinutes(20);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    add(Make(Changes(from_ms)));
  }
  stops = true;
  writer.join();
  PassMinutes(20);
  add(Make(Changes(from_ms)));
  EXPECT_GT(puts, 0);
  EXPECT_THAT(keys, SizeIs(puts.load()));
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), keys.size());
}

TEST_F(IncrementalExportTest, RefusesTimesInTheOrderOfTheService) {  // XPT-04, XPT-05
  const auto fail = [&](int64_t from_ms, std::optional<int64_t> to_ms = std::nullopt) {
    v1::ExportTableToPointInTimeRequest request = Changes(from_ms);
    if (to_ms.has_value()) request.mutable_incremental_export_specification()->set_export_to_time_ms(*to_ms);
    const absl::Status status = Start(request).status();
    EXPECT_EQ(ReasonOf(status), "INVALID_EXPORT_TIME");
    return MessageOf(status);
  };
  constexpr int64_t kMinuteMs = 60'000;
  const std::string window = "Difference between export period from time and export period to time is ";
  const int64_t created_ms = Describe(*database_, "Things").creation_time_ms();
  EXPECT_THAT(
      fail(created_ms - 1, 1),
      HasSubstr("Incremental export period from time cannot be less than the table creation time : 20"));
  EXPECT_THAT(fail(created_ms + 1, NowMs() + kMinuteMs),
              HasSubstr("Incremental export period to time cannot be greater than the current time : 20"));
  EXPECT_EQ(fail(NowMs() - 1), window + "less than 15 minutes");
  EXPECT_EQ(fail(NowMs(), created_ms), window + "less than 15 minutes");
  PassMinutes(20);
  // Before the first state that can be restored.
  EXPECT_EQ(fail(created_ms), "Export Time is invalid");
}

// The disk of the data is too full: exports that go on fail, new ones are refused, and reads go on.
TEST_F(ExportTest, EndsAtTheFreeSpaceFloor) {
  for (int i = 0; i < 2'000; ++i) Put("p", std::to_string(i));
  DatabaseOptions options = Options();
  options.backup_bytes_per_second = 1'000;
  Open(options);
  const auto begun = Start(Request());
  ASSERT_TRUE(begun.ok()) << begun.status();
  options.backup_bytes_per_second = 0;
  options.free_space_floor_bytes = fs::space(directory_.path()).free / 2 * 3;
  Open(options);
  const v1::ExportDescription failed = AwaitExport(begun->export_arn());
  EXPECT_EQ(failed.export_status(), v1::EXPORT_STATUS_FAILED);
  EXPECT_EQ(failed.failure_code(), "UNKNOWN");
  EXPECT_THAT(failed.failure_message(), HasSubstr("free"));
  EXPECT_FALSE(fs::exists(exports_ + "/bucket/AWSDynamoDB/" + IdOf(failed) + "/manifest-summary.json"));
  EXPECT_EQ(ReasonOf(Start(Request()).status()), "DISK_FULL");
  EXPECT_THAT(ScanAll(*database_, ScanRequest("Things")), SizeIs(2'000));
  Open(Options());
  EXPECT_EQ(Make(Request()).export_status(), v1::EXPORT_STATUS_COMPLETED);
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

// A new table that is imported from an export has the same items.
TEST_F(ExportTest, IsImportedAsTheSameItems) {  // IMP-15, XPT-43, XPT-46
  std::mt19937_64 random(7);
  for (int i = 0; i < 300; ++i) {
    v1::Item item = storage::RandomCanonicalItem(random);
    item.MergeFrom(Item({{"pk", S("p" + std::to_string(i % 17) + storage::RandomText(random, 5))},
                         {"sk", S(std::to_string(i))}}));
    wire::WriteItemRequest request;
    request.set_table_name("Things");
    request.set_key_or_item(item.SerializeAsString());
    const auto put =
        Await<wire::WriteItemReply>([&](auto done) { database().PutItem(request, std::move(done)); });
    ASSERT_TRUE(put.ok()) << put.status();
  }
  const std::vector<std::string> items = ScanAll(*database_, ScanRequest("Things"));
  for (const bool ion : {false, true}) {
    auto request = Request();
    request.set_s3_prefix(ion ? "ion" : "json");
    request.set_export_format(ion ? v1::EXPORT_FORMAT_ION : v1::EXPORT_FORMAT_DYNAMODB_JSON);
    const v1::ExportDescription made = Make(request);
    ASSERT_EQ(made.export_status(), v1::EXPORT_STATUS_COMPLETED) << made.failure_message();
    const v1::ImportDescription imported = ImportOf(made, ion ? "FromIon" : "FromJson");
    EXPECT_EQ(imported.import_status(), v1::IMPORT_STATUS_COMPLETED) << imported.failure_message();
    EXPECT_THAT(ScanAll(*database_, ScanRequest(ion ? "FromIon" : "FromJson")),
                ::testing::UnorderedElementsAreArray(items));
  }
}

// The same at an S3 endpoint.
class S3ExportTest : public IncrementalExportTest {
 protected:
  S3ExportTest() {
    exports_ = server_.directory() + "/buckets";
    server_.MakeBucket("bucket");
  }
  DatabaseOptions Options() const override {
    DatabaseOptions options = IncrementalExportTest::Options();
    options.export_directory.clear();
    options.s3.endpoint = "http://" + server_.address();
    options.s3.region = kS3Region;
    options.s3.credentials = [] {
      return S3Credentials{.key_id = kS3KeyId, .secret = kS3Secret, .session_token = ""};
    };
    options.s3.retry_pause = std::chrono::milliseconds(1);
    return options;
  }

  S3Process server_;
};

TEST_F(S3ExportTest, FullAndIncrementalExports) {
  const int64_t from_ms = WriteBeforeAndAfter();
  const std::vector<std::string> items = ScanAll(*database_, ScanRequest("Things"));
  // Each kind of request fails now and then.
  server_.SetFaults(R"([{"method": "PUT", "skip": 2, "times": 2, "action": "503", "code": "SlowDown"},
                        {"method": "GET", "times": 2, "action": "cut"}, {"method": "DELETE", "times": 1, "action": "500"}])");
  const v1::ExportDescription full = Make(Request());
  EXPECT_THAT(LinesOf(full), SizeIs(items.size()));
  const v1::ExportDescription changes = Make(Changes(from_ms));
  EXPECT_THAT(LinesOf(changes), SizeIs(5));
  EXPECT_EQ(changes.item_count(), 5);
  server_.SetFaults(R"([{"method": "GET", "times": 3, "action": "half"}])");
  const v1::ImportDescription imported = ImportOf(full, "Imported");
  EXPECT_EQ(imported.import_status(), v1::IMPORT_STATUS_COMPLETED) << imported.failure_message();
  EXPECT_THAT(ScanAll(*database_, ScanRequest("Imported")), ::testing::UnorderedElementsAreArray(items));
}

TEST_F(S3ExportTest, FailuresEndExportsAndImports) {  // XPT-12, IMP-09
  Put("p", "1");
  const v1::ExportDescription made = Make(Request());
  ASSERT_EQ(made.export_status(), v1::EXPORT_STATUS_COMPLETED) << made.failure_message();
  // An import does not go on without an object that cannot be read.
  server_.SetFaults(R"([{"method": "GET", "target": "/data/", "action": "500"}])");
  v1::ImportDescription imported = ImportOf(made, "Imported");
  EXPECT_EQ(imported.failure_code(), "InternalServerError");
  EXPECT_THAT(imported.failure_message(), HasSubstr("S3 answers 500"));
  EXPECT_EQ(imported.error_count(), 0);
  server_.SetFaults(R"([{"method": "GET", "target": "/data/", "action": "403", "code": "AccessDenied"}])");
  EXPECT_EQ(ImportOf(made, "Imported").failure_code(), "S3AccessDenied");
  server_.SetFaults(R"([{"method": "PUT", "action": "403", "code": "AccessDenied"}])");
  EXPECT_EQ(Make(Request()).failure_code(), "S3AccessDenied");
  server_.SetFaults("[]");
  v1::ExportTableToPointInTimeRequest request = Request();
  request.set_s3_bucket("missing");
  EXPECT_EQ(Make(request).failure_code(), "S3NoSuchBucket");
  // The name is free.
  EXPECT_EQ(ImportOf(made, "Imported").import_status(), v1::IMPORT_STATUS_COMPLETED);
}

}  // namespace
}  // namespace itemdb::testing
