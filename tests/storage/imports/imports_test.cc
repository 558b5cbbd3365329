// ImportTable, DescribeImport, ListImports on a database.
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "storage/buckets/object_digests.h"
#include "tests/support/files.h"
#include "tests/support/test_database.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ImportsTest : public ::testing::Test {
 protected:
  ImportsTest() {
    DatabaseOptions options = TestDatabase::DefaultOptions(directory_.path() + "/data");
    options.export_directory = directory_.path() + "/exports";
    options.index_build_bytes = 64 << 10;  // Items are sorted in many files.
    std::filesystem::create_directories(options.export_directory + "/bucket");
    database_ = std::make_unique<TestDatabase>(options);
  }
  Database& database() { return **database_; }

  std::string PathOf(const std::string& key) const { return directory_.path() + "/exports/bucket/" + key; }
  void Write(const std::string& key, const std::string& contents) {
    std::filesystem::create_directories(std::filesystem::path(PathOf(key)).parent_path());
    std::ofstream(PathOf(key), std::ios::binary) << contents;
  }
  void WriteGzip(const std::string& key, const std::string& contents) {
    gzFile file = gzopen(PathOf(key).c_str(), "wb");
    ASSERT_EQ(gzwrite(file, contents.data(), static_cast<unsigned>(contents.size())),
              static_cast<int>(contents.size()));
    ASSERT_EQ(gzclose(file), Z_OK);
  }

  static v1::ImportTableRequest Request(const std::string& table, const std::string& prefix = "") {
    v1::ImportTableRequest request;
    request.mutable_s3_bucket_source()->set_s3_bucket("bucket");
    request.mutable_s3_bucket_source()->set_s3_key_prefix(prefix);
    request.set_input_format(v1::INPUT_FORMAT_DYNAMODB_JSON);
    *request.mutable_table_creation_parameters() = TableRequest(table);
    return request;
  }
  absl::StatusOr<v1::ImportDescription> Start(const v1::ImportTableRequest& request) {
    auto reply =
        Await<v1::ImportTableReply>([&](auto done) { database().ImportTable(request, std::move(done)); });
    if (!reply.ok()) return reply.status();
    return reply->import();
  }
  absl::StatusOr<v1::ImportDescription> Describe(const std::string& arn) {
    v1::DescribeImportRequest request;
    request.set_import_arn(arn);
    auto reply = database().DescribeImport(request);
    if (!reply.ok()) return reply.status();
    return reply->import();
  }
  v1::ImportDescription AwaitImport(const std::string& arn) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (std::chrono::steady_clock::now() < until) {
      auto import = Describe(arn);
      EXPECT_TRUE(import.ok()) << import.status();
      if (!import.ok() || import->import_status() != v1::IMPORT_STATUS_IN_PROGRESS) return *import;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ADD_FAILURE() << "the import does not end";
    return {};
  }
  v1::ImportDescription Import(const v1::ImportTableRequest& request) {
    const auto begun = Start(request);
    EXPECT_TRUE(begun.ok()) << begun.status();
    return begun.ok() ? AwaitImport(begun->import_arn()) : v1::ImportDescription();
  }
  static std::vector<int64_t> Counts(const v1::ImportDescription& import) {
    return {import.processed_item_count(), import.imported_item_count(), import.error_count()};
  }
  std::string Report(const v1::ImportDescription& import) {
    const std::string& arn = import.import_arn();
    std::ifstream file(directory_.path() + "/data/imports/" + arn.substr(arn.rfind('/') + 1) + ".jsonl");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  static std::string Line(const std::string& pk, const std::string& sk, const std::string& more = "") {
    return R"({"Item":{"pk":{"S":")" + pk + R"("},"sk":{"S":")" + sk + "\"}" + more + "}}\n";
  }
  std::vector<std::string> Contents(const std::string& table, const std::string& index = "") {
    std::vector<std::string> items;
    wire::PageRequest scan;
    scan.set_table_name(table);
    scan.set_index_name(index);
    for (bool more = true; more;) {
      auto page = database_->Scan(scan);
      EXPECT_TRUE(page.ok()) << page.status();
      if (!page.ok()) break;
      for (std::string& item : ShowItems(*page)) items.push_back(std::move(item));
      more = page->reply.has_last_evaluated_key();
      scan.set_exclusive_start_key(page->reply.last_evaluated_key());
    }
    return items;
  }
  bool HasTable(const std::string& name) {
    v1::DescribeTableRequest request;
    request.set_table_name(name);
    return database().DescribeTable(request).ok();
  }

  TemporaryDirectory directory_;
  std::unique_ptr<TestDatabase> database_;
};

std::string ReasonIn(const absl::Status& status) { return std::string(ReasonOf(status)); }

// The model of an import is a map to which the items are put in the order of objects and lines. The table and
// its index equal a table to which the same items were put one by one.
TEST_F(ImportsTest, EqualsATableThatWasWritten) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  v1::CreateTableRequest table = TableRequest("Written");
  AddIndex(&table, "ByState", {"state:S"}, 1, v1::PROJECTION_TYPE_ALL);
  AddIndex(&table, "ByNumber", {"number:N", "sk:S"}, 1, v1::PROJECTION_TYPE_KEYS_ONLY);
  database_->CreateTable(table);
  for (int object = 0; object < 3; ++object) {
    std::string lines;
    for (int i = 0; i < 2000; ++i) {
      const std::string pk(1, static_cast<char>('a' + random() % 9)), sk = std::to_string(random() % 300);
      const std::string state = "state" + std::to_string(random() % 4),
                        number = std::to_string(random() % 50);
      const std::string text(random() % 200, 'x');
      lines += Line(pk, sk,
                    R"(,"state":{"S":")" + state + R"("},"number":{"N":")" + number + R"("},"text":{"S":")" +
                        text + "\"}");
      ASSERT_TRUE(database_
                      ->Put("Written", {{"pk", S(pk)},
                                        {"sk", S(sk)},
                                        {"state", S(state)},
                                        {"number", N(number)},
                                        {"text", S(text)}})
                      .ok());
    }
    WriteGzip("data" + std::to_string(object), lines);
  }
  v1::ImportTableRequest request = Request("Imported", "data");
  request.set_input_compression_type(v1::INPUT_COMPRESSION_TYPE_GZIP);
  *request.mutable_table_creation_parameters() = table;
  request.mutable_table_creation_parameters()->set_table_name("Imported");
  const v1::ImportDescription import = Import(request);
  EXPECT_EQ(import.import_status(), v1::IMPORT_STATUS_COMPLETED) << import.DebugString();
  EXPECT_THAT(Counts(import), ElementsAre(6000, 6000, 0));
  EXPECT_EQ(import.processed_size_bytes(), static_cast<int64_t>(std::filesystem::file_size(PathOf("data0")) +
                                                                std::filesystem::file_size(PathOf("data1")) +
                                                                std::filesystem::file_size(PathOf("data2"))));
  for (const char* index : {"", "ByState", "ByNumber"})
    EXPECT_EQ(Contents("Imported", index), Contents("Written", index)) << index;
  database_->CheckIsClean();
  database_->Reopen();
  EXPECT_EQ(Contents("Imported"), Contents("Written"));
  EXPECT_EQ(Describe(import.import_arn())->DebugString(), import.DebugString());
  // The table is one like any other.
  EXPECT_TRUE(database_->Put("Imported", {{"pk", S("new")}, {"sk", S("x")}}).ok());
  database_->CheckIsClean();
}

// IMP-01, IMP-02, IMP-03.
TEST_F(ImportsTest, DescribesWhatWasAskedFor) {
  Write("data", Line("a", "1"));
  v1::ImportTableRequest request = Request("Table", "data");
  const auto begun = Start(request);
  ASSERT_TRUE(begun.ok()) << begun.status();
  EXPECT_EQ(begun->import_status(), v1::IMPORT_STATUS_IN_PROGRESS);
  EXPECT_THAT(begun->import_arn(),
              ::testing::MatchesRegex(
                  "arn:aws:dynamodb:local:000000000000:table/Table/import/[0-9]{14}-[0-9a-f]{8}"));
  EXPECT_EQ(begun->table_arn(), "arn:aws:dynamodb:local:000000000000:table/Table");
  EXPECT_FALSE(begun->table_id().empty());
  EXPECT_FALSE(begun->client_token().empty());
  EXPECT_EQ(begun->s3_bucket_source().s3_bucket_owner(), "000000000000");
  EXPECT_EQ(begun->input_compression_type(), v1::INPUT_COMPRESSION_TYPE_NONE);
  EXPECT_EQ(begun->table_creation_parameters().DebugString(),
            request.table_creation_parameters().DebugString());
  const v1::ImportDescription ended = AwaitImport(begun->import_arn());
  EXPECT_EQ(ended.table_id(), begun->table_id());
  EXPECT_GE(ended.end_time_ms(), ended.start_time_ms());
  EXPECT_EQ(ended.failure_code(), "");
}

// IMP-11, IMP-13, IMP-23.
TEST_F(ImportsTest, BadItemsAreLeftOut) {
  std::string lines = Line("a", "1");
  lines += R"({"Item":{"pk":{"S":"a"}}})"
           "\n";  // No sort key.
  lines += R"({"Item":{"pk":{"S":"a"},"sk":{"N":"1"}}})"
           "\n";                                                                     // Wrong type.
  lines += Line("a", "2", R"(,"text":{"S":")" + std::string(410'000, 'x') + "\"}");  // Too large.
  lines += Line("a", "3", R"(,"state":{"N":"1"})");  // Wrong type for the index.
  lines += Line("", "4") + "\n" + Line("a", "5");
  Write("data", lines);
  v1::ImportTableRequest request = Request("Table");
  AddIndex(request.mutable_table_creation_parameters(), "ByState", {"state:S"}, 1, v1::PROJECTION_TYPE_ALL);
  const v1::ImportDescription import = Import(request);
  EXPECT_EQ(import.import_status(), v1::IMPORT_STATUS_FAILED);
  EXPECT_EQ(import.failure_code(), "ItemValidationError");
  EXPECT_THAT(import.failure_message(),
              HasSubstr("Some of the items failed validation checks and were not imported. "));
  EXPECT_THAT(Counts(import), ElementsAre(7, 2, 5));
  EXPECT_THAT(Contents("Table"), ElementsAre("pk=a sk=1", "pk=a sk=5"));
  const std::string report = Report(import);
  EXPECT_EQ(std::count(report.begin(), report.end(), '\n'), 5) << report;
  for (int line = 2; line <= 6; ++line)
    EXPECT_THAT(report,
                HasSubstr("{\"object\":\"data\",\"line\":" + std::to_string(line) + ",\"reason\":\""));
  database_->CheckIsClean();
}

// IMP-12.
TEST_F(ImportsTest, ALineThatCannotBeParsedEndsItsObject) {
  std::string lines;
  for (int i = 0; i < 5; ++i) lines += Line("a", std::to_string(i));
  lines += "no JSON\n";
  // More than one chunk.
  for (int i = 0; i < 20'000; ++i) lines += Line("b", std::to_string(i));
  Write("data1", lines);
  Write("data2", Line("c", "1"));
  const v1::ImportDescription import = Import(Request("Table"));
  EXPECT_THAT(Counts(import), ElementsAre(7, 6, 1));
  EXPECT_THAT(Contents("Table"), SizeIs(6));
  EXPECT_THAT(Report(import), HasSubstr("{\"object\":\"data1\",\"line\":6,"));
}

// IMP-14.
TEST_F(ImportsTest, AnObjectOfAnotherCompressionIsOneError) {
  Write("data1", Line("a", "1"));
  WriteGzip("data2", Line("a", "2"));
  v1::ImportTableRequest request = Request("Table");
  request.set_input_compression_type(v1::INPUT_COMPRESSION_TYPE_GZIP);
  const v1::ImportDescription import = Import(request);
  EXPECT_EQ(import.failure_code(), "ItemValidationError");
  EXPECT_THAT(Counts(import), ElementsAre(1, 1, 1));
  EXPECT_THAT(Contents("Table"), ElementsAre("pk=a sk=2"));
}

// The lines before the end of a truncated object are imported.
TEST_F(ImportsTest, ATruncatedObjectIsReadUntilItsEnd) {
  std::string lines;
  std::mt19937 random(7);
  for (int i = 0; i < 50'000; ++i) lines += Line("a", std::to_string(random()));
  WriteGzip("data", lines);
  std::filesystem::resize_file(PathOf("data"), std::filesystem::file_size(PathOf("data")) / 2);
  v1::ImportTableRequest request = Request("Table");
  request.set_input_compression_type(v1::INPUT_COMPRESSION_TYPE_GZIP);
  const v1::ImportDescription import = Import(request);
  EXPECT_EQ(import.error_count(), 1);
  EXPECT_GT(import.imported_item_count(), 15'000);
  EXPECT_THAT(Report(import), HasSubstr("before it is complete"));
}

// IMP-20: by object, then by line.
TEST_F(ImportsTest, OfEqualKeysTheLastOneWins) {
  Write("data2", Line("a", "1", R"(,"v":{"N":"3"})"));
  Write("data1", Line("a", "1", R"(,"v":{"N":"1"})") + Line("a", "1", R"(,"v":{"N":"2"})") +
                     Line("b", "1", R"(,"v":{"N":"4"})") + Line("b", "1", R"(,"v":{"N":"5"})"));
  const v1::ImportDescription import = Import(Request("Table"));
  EXPECT_EQ(import.import_status(), v1::IMPORT_STATUS_COMPLETED);
  EXPECT_THAT(Counts(import), ElementsAre(5, 5, 0));
  EXPECT_THAT(Contents("Table"), ElementsAre("pk=a sk=1 v=3", "pk=b sk=1 v=5"));
  database_->CheckIsClean();
}

// IMP-09.
TEST_F(ImportsTest, AMissingBucketLeavesNoTable) {
  v1::ImportTableRequest request = Request("Table");
  request.mutable_s3_bucket_source()->set_s3_bucket("missing");
  const v1::ImportDescription import = Import(request);
  EXPECT_EQ(import.import_status(), v1::IMPORT_STATUS_FAILED);
  EXPECT_EQ(import.failure_code(), "S3NoSuchBucket");
  EXPECT_GT(import.end_time_ms(), 0);
  EXPECT_FALSE(HasTable("Table"));
  // The name is free.
  EXPECT_EQ(Import(Request("Table")).import_status(), v1::IMPORT_STATUS_COMPLETED);
  EXPECT_THAT(Contents("Table"), IsEmpty());
}

// An import does not go on without an object that it may not read: no item would tell what is missing.
TEST_F(ImportsTest, AnObjectThatMayNotBeReadEndsTheImport) {
  Write("a", Line("a", "1"));
  Write("b", Line("b", "1"));
  ASSERT_EQ(chmod(PathOf("a").c_str(), 0), 0);
  const bool is_root = geteuid() == 0;
  if (is_root) {
    // Then nothing is forbidden; so the process becomes another user, who may use the database.
    ASSERT_EQ(std::system(("chmod -R a+rwX " + directory_.path() + " && chmod 0 " + PathOf("a")).c_str()), 0);
    ASSERT_EQ(seteuid(65534), 0);
  }
  const v1::ImportDescription import = Import(Request("Table"));
  if (is_root) {
    ASSERT_EQ(seteuid(0), 0);
  }
  EXPECT_EQ(import.failure_code(), "S3AccessDenied") << import.failure_message();
  EXPECT_THAT(import.failure_message(), HasSubstr("cannot open the object a"));
  EXPECT_FALSE(HasTable("Table"));
  // A link in place of the bucket, as exports answer.
  std::filesystem::create_symlink("bucket", directory_.path() + "/exports/link");
  v1::ImportTableRequest link = Request("Table");
  link.mutable_s3_bucket_source()->set_s3_bucket("link");
  EXPECT_EQ(Import(link).failure_code(), "S3AccessDenied");
}

std::string Md5Text(const std::string& contents) {
  storage::ObjectDigests digests;
  digests.Add(contents);
  return absl::Base64Escape(digests.Finish("").md5);
}

std::string Sha256Text(const std::string& contents) {
  storage::ObjectDigests digests;
  digests.Add(contents);
  return absl::BytesToHexString(digests.Finish("").sha256);
}

// An export of two files, as the service writes it.
class ExportImportsTest : public ImportsTest {
 protected:
  ExportImportsTest() {
    WriteData();
    WriteSummary("2020-06-30", "DYNAMODB_JSON");
    WriteFiles(FileLine("one.json", first_) + FileLine("two.json", second_));
  }
  void WriteData() {
    Write(folder_ + "data/one.json", first_);
    Write(folder_ + "data/two.json", second_);
  }
  void WriteWithChecksum(const std::string& name, const std::string& contents) {
    Write(folder_ + name + ".json", contents);
    Write(folder_ + name + ".md5", Md5Text(contents));
  }
  void WriteSummary(const std::string& version, const std::string& format) {
    WriteWithChecksum("manifest-summary",
                      R"({"version":")" + version + R"(","itemCount":2,"outputFormat":")" + format + "\"}\n");
  }
  void WriteFiles(const std::string& lines) { WriteWithChecksum("manifest-files", lines); }
  // As if the export had another prefix before it was copied.
  static std::string FileLine(const std::string& name, const std::string& contents) {
    return R"({"itemCount":1,"md5Checksum":")" + Md5Text(contents) +
           R"(","dataFileS3Key":"other/AWSDynamoDB/1/data/)" + name + "\"}\n";
  }
  v1::ImportDescription ImportData() {
    v1::ImportTableRequest request = Request("Data", folder_ + "data/");
    request.set_input_compression_type(compression_);
    return Import(request);
  }
  void DeleteTable(const std::string& name) {
    v1::DeleteTableRequest request;
    request.set_table_name(name);
    ASSERT_TRUE(Await<v1::DeleteTableReply>([&](auto done) {
                  database().DeleteTable(request, std::move(done));
                }).ok());
  }
  void ExpectRefused(const std::string& text) {
    const v1::ImportDescription import = ImportData();
    EXPECT_EQ(import.import_status(), v1::IMPORT_STATUS_FAILED);
    EXPECT_EQ(import.failure_code(), "ManifestValidationError");
    EXPECT_THAT(import.failure_message(),
                HasSubstr("the export in nightly/AWSDynamoDB/1/ cannot be imported: "));
    EXPECT_THAT(import.failure_message(), HasSubstr(text));
    EXPECT_EQ(import.imported_item_count(), 0);
    EXPECT_FALSE(HasTable("Data"));
  }
  static std::string OtherMd5(const std::string& name) {
    return "the data file nightly/AWSDynamoDB/1/data/" + name +
           " has another MD5 than manifest-files.json says";
  }

  const std::string folder_ = "nightly/AWSDynamoDB/1/";
  const std::string first_ = Line("a", "1");
  const std::string second_ = Line("b", "2");
  v1::InputCompressionType compression_ = v1::INPUT_COMPRESSION_TYPE_NONE;
};

// IMP-15: in the folder above, the manifests of an export are bad lines.
TEST_F(ExportImportsTest, TheFolderOfAnExportIsImportedWithoutItsManifests) {
  EXPECT_THAT(Counts(ImportData()), ElementsAre(2, 2, 0));
  EXPECT_THAT(Contents("Data"), ElementsAre("pk=a sk=1", "pk=b sk=2"));
  EXPECT_THAT(Counts(Import(Request("Same", folder_ + "data"))), ElementsAre(2, 2, 0));
  const v1::ImportDescription whole = Import(Request("Whole", folder_));
  EXPECT_EQ(whole.failure_code(), "ItemValidationError");
  EXPECT_THAT(Contents("Whole"), ElementsAre("pk=a sk=1", "pk=b sk=2"));
}

TEST_F(ExportImportsTest, AnExportThatIsNotWholeIsRefused) {  // IMP-15
  std::filesystem::remove(PathOf(folder_ + "manifest-summary.json"));
  ExpectRefused("manifest-summary.json is missing");
  WriteSummary("2020-06-30", "DYNAMODB_JSON");
  std::filesystem::remove(PathOf(folder_ + "manifest-files.json"));
  ExpectRefused("manifest-files.json is missing");
  WriteFiles(FileLine("one.json", first_) + FileLine("two.json", second_) + FileLine("three.json", second_));
  ExpectRefused("the data file three.json is missing");
  WriteFiles(FileLine("one.json", first_));
  ExpectRefused("data/two.json is not in manifest-files.json");
  // The manifests alone were copied.
  std::filesystem::rename(PathOf(folder_ + "data"), PathOf("kept"));
  ExpectRefused("the data file one.json is missing");
  std::filesystem::rename(PathOf("kept"), PathOf(folder_ + "data"));
  // Elsewhere it is a folder like any other.
  std::filesystem::rename(PathOf("nightly/AWSDynamoDB"), PathOf("nightly/copied"));
  EXPECT_THAT(Counts(Import(Request("Copied", "nightly/copied/1/data/"))), ElementsAre(2, 2, 0));
}

TEST_F(ExportImportsTest, AnotherVersionOrFormatIsRefused) {  // IMP-15
  WriteSummary("2031-01-01", "DYNAMODB_JSON");
  ExpectRefused(R"(it has the version "2031-01-01", and "2020-06-30" is read)");
  WriteSummary("2020-06-30", "ION");
  ExpectRefused("its files are ION, and the InputFormat is DYNAMODB_JSON");
  WriteWithChecksum("manifest-summary", "[1]");
  ExpectRefused("manifest-summary.json is no JSON object with a version");
  WriteSummary("2020-06-30", "DYNAMODB_JSON");
  WriteFiles(FileLine("one.json", first_) + "{\"itemCount\":1}\n");
  ExpectRefused("line 2 of manifest-files.json");
}

TEST_F(ExportImportsTest, AFileWithAnotherMd5IsRefused) {  // IMP-15
  Write(folder_ + "manifest-files.md5", Md5Text("something else"));
  ExpectRefused("manifest-files.json has another MD5 than manifest-files.md5 says");
  WriteFiles(FileLine("one.json", first_) + FileLine("two.json", second_));
  // Items with other values; the file is as long as before.
  Write(folder_ + "data/two.json", Line("b", "9"));
  ExpectRefused(OtherMd5("two.json"));
  Write(folder_ + "data/one.json", Line("a", "9"));
  ExpectRefused(OtherMd5("one.json"));
  // Also what ends the reading of its lines is not told instead.
  for (const std::string& contents :
       {Line("a", "9") + "no item\n", "no item\n" + Line("a", "9"), std::string("{\"Item\":{}}\n")}) {
    Write(folder_ + "data/one.json", contents);
    ExpectRefused(OtherMd5("one.json"));
  }
  WriteData();
  EXPECT_THAT(Counts(ImportData()), ElementsAre(2, 2, 0));
}

TEST_F(ExportImportsTest, ACompressedFileWithAnotherMd5IsRefused) {  // IMP-15
  const std::string path = PathOf(folder_ + "data/one.json");
  WriteGzip(folder_ + "data/one.json", first_);
  WriteGzip(folder_ + "data/two.json", second_);
  const std::string packed = ReadFile(path);
  WriteFiles(FileLine("one.json", packed) +
             FileLine("two.json", ReadFile(PathOf(folder_ + "data/two.json"))));
  compression_ = v1::INPUT_COMPRESSION_TYPE_GZIP;
  WriteGzip(folder_ + "data/one.json", Line("a", "9"));
  ExpectRefused(OtherMd5("one.json"));
  for (const std::string& contents :
       {packed.substr(0, packed.size() / 2), packed + "x", first_, packed + packed}) {
    Write(folder_ + "data/one.json", contents);
    ExpectRefused(OtherMd5("one.json"));
  }
  Write(folder_ + "data/one.json", packed);
  EXPECT_THAT(Counts(ImportData()), ElementsAre(2, 2, 0));
}

// IMP-10: one key, and the beginning of a key.
TEST_F(ExportImportsTest, ASingleFileIsComparedToo) {
  for (const char* name : {"data/two.json", "data/t"}) {
    WriteData();
    v1::ImportTableRequest request = Request("Single", folder_ + name);
    EXPECT_THAT(Counts(Import(request)), ElementsAre(1, 1, 0));
    EXPECT_THAT(Contents("Single"), ElementsAre("pk=b sk=2"));
    DeleteTable("Single");
    Write(folder_ + "data/two.json", Line("b", "9"));
    const v1::ImportDescription import = Import(request);
    EXPECT_EQ(import.failure_code(), "ManifestValidationError");
    EXPECT_THAT(import.failure_message(), HasSubstr(OtherMd5("two.json")));
    EXPECT_FALSE(HasTable("Single"));
  }
  // Without any manifest it is a file like any other.
  for (const char* name : {"manifest-summary", "manifest-files"})
    for (const char* end : {".json", ".md5"}) std::filesystem::remove(PathOf(folder_ + name + end));
  EXPECT_THAT(Counts(Import(Request("Single", folder_ + "data/two.json"))), ElementsAre(1, 1, 0));
}

// IMP-12: in a file with the MD5 of the manifest a bad line is what it is everywhere, and what follows it is
// compared all the same.
TEST_F(ExportImportsTest, AFileWithABadLineIsComparedToItsEnd) {
  std::string lines = Line("a", "1") + "no item\n";
  while (lines.size() < 3 << 20) lines += Line("c", std::to_string(lines.size()));
  WriteFiles(FileLine("one.json", lines) + FileLine("two.json", second_));
  Write(folder_ + "data/one.json", lines);
  const v1::ImportDescription import = ImportData();
  EXPECT_EQ(import.failure_code(), "ItemValidationError");
  EXPECT_THAT(Counts(import), ElementsAre(3, 2, 1));
  EXPECT_THAT(Contents("Data"), ElementsAre("pk=a sk=1", "pk=b sk=2"));
  DeleteTable("Data");
  lines[lines.size() - 2] = ' ';
  Write(folder_ + "data/one.json", lines);
  ExpectRefused(OtherMd5("one.json"));
}

TEST_F(ExportImportsTest, AFileWithAnotherSha256IsRefused) {  // IMP-15
  const auto write_own = [&](const std::string& first, const std::string& more) {
    Write(folder_ + "itemdb-manifest.json",
          R"({"version":1,"files":[{"key":"other/AWSDynamoDB/1/data/one.json","bytes":9,"sha256":")" + first +
              "\"}" + more + "]}\n");
  };
  const std::string second =
      R"(,{"key":"other/AWSDynamoDB/1/data/two.json","bytes":9,"sha256":")" + Sha256Text(second_) + "\"}";
  write_own(Sha256Text(first_), second);
  EXPECT_THAT(Counts(ImportData()), ElementsAre(2, 2, 0));
  DeleteTable("Data");
  write_own(Sha256Text(second_), second);
  ExpectRefused("data/one.json has another SHA-256 than itemdb-manifest.json says");
  write_own("00", second);
  ExpectRefused("data/one.json has another SHA-256 than itemdb-manifest.json says");
  write_own(Sha256Text(first_), "");
  ExpectRefused("the data file two.json is not in itemdb-manifest.json");
  write_own(Sha256Text(first_), R"(,{"key":"two.json"})");
  ExpectRefused("a file of itemdb-manifest.json has no key or no sha256");
  Write(folder_ + "itemdb-manifest.json", "{");
  ExpectRefused("itemdb-manifest.json is no JSON object with files");
}

TEST_F(ImportsTest, ReadsIonAndCsv) {
  Write("ion", "$ion_1_0 {Item:{pk:\"a\",sk:\"1\",v:$dynamodb_NS::[2.,1.]}}\n\n{Item:{pk:\"a\",sk:'2'}}\n");
  v1::ImportTableRequest request = Request("Ion", "ion");
  request.set_input_format(v1::INPUT_FORMAT_ION);
  EXPECT_THAT(Counts(Import(request)), ElementsAre(2, 2, 0));
  EXPECT_THAT(Contents("Ion"), SizeIs(2));
  Write("csv", "pk;sk;n\r\na;1;2\r\n\"a\";\"x\ny\";3\r\nb;1\r\n");
  request = Request("Csv", "csv");
  request.set_input_format(v1::INPUT_FORMAT_CSV);
  request.mutable_csv_options()->set_delimiter(";");
  const v1::ImportDescription csv = Import(request);
  EXPECT_THAT(Counts(csv), ElementsAre(3, 2, 1));
  EXPECT_THAT(Report(csv), HasSubstr("\"line\":5,"));
  EXPECT_THAT(Contents("Csv"), ElementsAre("n=2 pk=a sk=1", "n=3 pk=a sk=x\ny"));
  // The first line is an item when the request names the columns.
  request = Request("Named", "csv");
  request.set_input_format(v1::INPUT_FORMAT_CSV);
  request.mutable_csv_options()->set_delimiter(";");
  for (const char* name : {"pk", "sk", "other"}) request.mutable_csv_options()->add_header_list(name);
  EXPECT_THAT(Counts(Import(request)), ElementsAre(4, 3, 1));
  // A header that cannot be used is one error.
  Write("bad-header", "pk,pk\na,b\n");
  request = Request("BadHeader", "bad-header");
  request.set_input_format(v1::INPUT_FORMAT_CSV);
  EXPECT_THAT(Counts(Import(request)), ElementsAre(0, 0, 1));
}

// IMP-11, IMP-18: a cell has the bounds of its attribute. An item of 400 KB is pk, a, sk, 1, text and the
// text.
TEST_F(ImportsTest, ACellOfCsvHasTheBoundsOfItsAttribute) {
  constexpr size_t kMaxItem = 400 << 10;
  const std::string largest(kMaxItem - std::string("pkask1text").size(), 'x');
  Write("csv", "pk,sk,text\na,1," + largest + "\na,2," + largest + "x\n" + std::string(2'048, 'k') +
                   ",3,t\n" + std::string(2'049, 'k') + ",4,t\nb," + std::string(1'024, 's') + ",t\nb," +
                   std::string(1'025, 's') + ",t\n,5,t\nlast,6,\n");
  v1::ImportTableRequest request = Request("Csv", "csv");
  request.set_input_format(v1::INPUT_FORMAT_CSV);
  const v1::ImportDescription import = Import(request);
  EXPECT_THAT(Counts(import), ElementsAre(8, 4, 4));
  const std::string report = Report(import);
  for (const int line : {3, 5, 7, 8})
    EXPECT_THAT(report, HasSubstr("\"line\":" + std::to_string(line) + ",")) << report;
  EXPECT_THAT(Contents("Csv"), SizeIs(4));
}

// IMP-23.
TEST_F(ImportsTest, TheReportIsBounded) {
  std::string lines;
  for (int i = 0; i < 10'500; ++i) lines += "{\"Item\":{}}\n";
  Write("data", lines);
  const v1::ImportDescription import = Import(Request("Table"));
  EXPECT_EQ(import.error_count(), 10'500);
  const std::string report = Report(import);
  EXPECT_EQ(std::count(report.begin(), report.end(), '\n'), 10'000);
}

// Opening a pipe as an object would block; here the first object holds the import while its table is looked
// at.
class HeldImportTest : public ImportsTest {
 protected:
  // Begins an import that does not end until Release: its object is large.
  std::string Hold(const std::string& table, const std::string& token = "") {
    if (lines_.empty())
      for (int i = 0; i < 400'000; ++i)
        lines_ += Line("a", std::to_string(i), R"(,"text":{"S":"xxxxxxxxxxxxxxxx"})");
    Write("held/" + table, lines_);
    v1::ImportTableRequest request = Request(table, "held/" + table);
    request.set_client_token(token);
    const auto begun = Start(request);
    EXPECT_TRUE(begun.ok()) << begun.status();
    return begun.ok() ? begun->import_arn() : "";
  }
  std::string lines_;
};

// IMP-04, IMP-05, IMP-06, IMP-07. No change record tells of an item (IMP-24).
TEST_F(HeldImportTest, WhileATableIsImported) {
  const std::string arn = Hold("Table", "token");
  v1::DescribeTableRequest describe;
  describe.set_table_name("Table");
  auto table = database().DescribeTable(describe);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->table().table_status(), v1::TABLE_STATUS_CREATING);
  EXPECT_FALSE(table->table().has_restore_summary());
  EXPECT_THAT(database().ListTables({})->table_names(), ElementsAre("Table"));
  v1::UpdateTableRequest update;
  update.set_table_name("Table");
  update.set_deletion_protection_enabled(true);
  EXPECT_EQ(ReasonIn(Await<v1::UpdateTableReply>([&](auto done) {
                       database().UpdateTable(update, std::move(done));
                     }).status()),
            kReasonResourceInUse);
  v1::UpdateTimeToLiveRequest ttl;
  ttl.set_table_name("Table");
  ttl.mutable_time_to_live_specification()->set_attribute_name("expires");
  ttl.mutable_time_to_live_specification()->set_enabled(true);
  EXPECT_EQ(ReasonIn(Await<v1::UpdateTimeToLiveReply>([&](auto done) {
                       database().UpdateTimeToLive(ttl, std::move(done));
                     }).status()),
            kReasonResourceInUse);
  v1::DeleteTableRequest remove;
  remove.set_table_name("Table");
  EXPECT_EQ(ReasonIn(Await<v1::DeleteTableReply>([&](auto done) {
                       database().DeleteTable(remove, std::move(done));
                     }).status()),
            kReasonResourceInUse);
  EXPECT_EQ(ReasonIn(database_->Put("Table", {{"pk", S("a")}, {"sk", S("1")}}).status()),
            kReasonResourceNotFound);
  v1::CreateBackupRequest backup;
  backup.set_table_name("Table");
  backup.set_backup_name("backup");
  EXPECT_EQ(ReasonIn(Await<v1::CreateBackupReply>([&](auto done) {
                       database().CreateBackup(backup, std::move(done));
                     }).status()),
            kReasonContinuousBackupsUnavailable);
  EXPECT_EQ(ReasonIn(Start(Request("Table")).status()), kReasonResourceInUse);
  // The same token: the same import; or a conflict.
  v1::ImportTableRequest again = Request("Table", "held/Table");
  again.set_client_token("token");
  const auto same = Start(again);
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(same->import_arn(), arn);
  again.mutable_table_creation_parameters()->set_table_name("Other");
  EXPECT_EQ(ReasonIn(Start(again).status()), "IMPORT_CONFLICT");
  ASSERT_EQ(Describe(arn)->import_status(), v1::IMPORT_STATUS_IN_PROGRESS)
      << "the import was too fast for this test";
  EXPECT_EQ(AwaitImport(arn).import_status(), v1::IMPORT_STATUS_COMPLETED);
  EXPECT_EQ(database_->ReadChanges(0)->records_size(), 1);
  // After the end the token is no longer known.
  again.mutable_table_creation_parameters()->set_table_name("Table");
  EXPECT_EQ(ReasonIn(Start(again).status()), kReasonResourceInUse);
}

// IMP-24: the imports that wait behind the first count too.
TEST_F(HeldImportTest, OneMoreThanTheLimitIsRefused) {
  const std::string arn = Hold("Table0");
  std::vector<std::string> arns;
  for (size_t i = 1; i < storage::kMaxRunningImports; ++i) {
    const auto begun = Start(Request("Table" + std::to_string(i), "none"));
    ASSERT_TRUE(begun.ok()) << i << ": " << begun.status();
    arns.push_back(begun->import_arn());
  }
  const absl::Status refused = Start(Request("OneMore", "none")).status();
  ASSERT_EQ(Describe(arn)->import_status(), v1::IMPORT_STATUS_IN_PROGRESS)
      << "the import was too fast for this test";
  EXPECT_EQ(ReasonIn(refused), "LIMIT_EXCEEDED");
  EXPECT_EQ(MessageOf(refused), "Subscriber limit exceeded: Only 50 imports can run simultaneously");
  EXPECT_FALSE(HasTable("OneMore"));
  for (const std::string& one : arns)
    EXPECT_EQ(AwaitImport(one).import_status(), v1::IMPORT_STATUS_COMPLETED);
  EXPECT_EQ(Import(Request("OneMore", "none")).import_status(), v1::IMPORT_STATUS_COMPLETED);
}

// A database that is closed during an import begins it again.
TEST_F(HeldImportTest, GoesOnAfterARestart) {
  const std::string arn = Hold("Table");
  database_->Reopen();
  EXPECT_EQ(Describe(arn)->import_status(), v1::IMPORT_STATUS_IN_PROGRESS);
  const v1::ImportDescription import = AwaitImport(arn);
  EXPECT_EQ(import.import_status(), v1::IMPORT_STATUS_COMPLETED);
  EXPECT_THAT(Counts(import), ElementsAre(400'000, 400'000, 0));
  database_->CheckIsClean();
}

// IMP-19.
TEST_F(HeldImportTest, AnObjectThatChangesIsAnError) {
  Write("held/Table2", Line("b", "1"));
  const std::string arn = Hold("Table");  // Takes held/Table2 too.
  while (Describe(arn)->processed_item_count() == 0) std::this_thread::yield();
  Write("held/Table2", Line("b", "1") + Line("b", "2"));
  ASSERT_EQ(Describe(arn)->import_status(), v1::IMPORT_STATUS_IN_PROGRESS);
  const v1::ImportDescription import = AwaitImport(arn);
  EXPECT_EQ(import.failure_code(), "ItemValidationError");
  EXPECT_THAT(Counts(import), ElementsAre(400'000, 400'000, 1));
  EXPECT_THAT(Report(import), HasSubstr("\"object\":\"held/Table2\",\"reason\":\"the object was changed"));
}

TEST_F(ImportsTest, RefusesRequestsThatAreNotValid) {
  database_->CreateTable(TableRequest("Taken"));
  EXPECT_EQ(ReasonIn(Start(Request("Taken")).status()), kReasonResourceInUse);
  const auto expect_invalid = [&](const v1::ImportTableRequest& request, const std::string& text) {
    const absl::Status status = Start(request).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(MessageOf(status), HasSubstr(text));
  };
  v1::ImportTableRequest request = Request("Table");
  request.mutable_s3_bucket_source()->set_s3_bucket("../up");
  expect_invalid(request, "S3Bucket");
  request = Request("Table");
  request.clear_input_format();
  expect_invalid(request, "InputFormat");
  request = Request("Table");
  request.mutable_csv_options();
  expect_invalid(request, "Unsupported InputFormatOptions for the given input format: DYNAMODB_JSON.");
  request.set_input_format(v1::INPUT_FORMAT_CSV);
  request.mutable_csv_options()->set_delimiter("x");
  expect_invalid(request, "Delimiter");
  request = Request("Table");
  request.mutable_table_creation_parameters()->set_billing_mode(v1::BILLING_MODE_PROVISIONED);
  expect_invalid(request, "ReadCapacityUnits and WriteCapacityUnits must both be specified");
  request = Request("Table");
  AddLocalIndex(request.mutable_table_creation_parameters(), "Local", "x", v1::PROJECTION_TYPE_ALL);
  expect_invalid(request, "TableCreationParameters");
  EXPECT_FALSE(HasTable("Table"));
}

// IMP-21, IMP-22.
TEST_F(ImportsTest, ImportsAreFoundWithoutTheirTables) {
  std::vector<std::string> arns;
  for (int i = 0; i < 12; ++i) {
    arns.push_back(Import(Request("Table" + std::to_string(i))).import_arn());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  v1::DeleteTableRequest remove;
  remove.set_table_name("Table3");
  ASSERT_TRUE(
      Await<v1::DeleteTableReply>([&](auto done) { database().DeleteTable(remove, std::move(done)); }).ok());
  database_->Reopen();
  EXPECT_TRUE(Describe(arns[3]).ok());
  v1::ListImportsRequest list;
  const auto first = database().ListImports(list);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_EQ(first->imports_size(), 10);
  EXPECT_EQ(first->imports(0).import_arn(), arns[11]);
  EXPECT_GE(first->next_token().size(), 112);
  list.set_next_token(first->next_token());
  const auto second = database().ListImports(list);
  ASSERT_EQ(second->imports_size(), 2);
  EXPECT_EQ(second->imports(1).import_arn(), arns[0]);
  EXPECT_EQ(second->next_token(), "");
  list.Clear();
  list.set_table_arn("arn:aws:dynamodb:local:000000000000:table/Table3");
  EXPECT_EQ(database().ListImports(list)->imports_size(), 1);
  list.Clear();
  EXPECT_EQ(
      database().ListImports(list, [](std::string_view name) { return name == "Table5"; })->imports_size(),
      1);
  list.set_page_size(26);
  EXPECT_FALSE(database().ListImports(list).ok());
  list.set_page_size(1);
  list.set_next_token("ff");
  EXPECT_FALSE(database().ListImports(list).ok());

  const std::string arn = "arn:aws:dynamodb:local:000000000000:table/Table5/";
  EXPECT_EQ(ReasonIn(Describe(arn + "import/01700000000000-0123abcd").status()), "IMPORT_NOT_FOUND");
  EXPECT_EQ(MessageOf(Describe(arn + "backup/01700000000000-0123abcd").status()), "Invalid Import ARN");
  EXPECT_EQ(
      ReasonIn(Describe("arn:aws:dynamodb:local:111111111111:table/Table5/import/01700000000000-0123abcd")
                   .status()),
      kReasonAccessDenied);
}

}  // namespace
}  // namespace itemdb::testing
