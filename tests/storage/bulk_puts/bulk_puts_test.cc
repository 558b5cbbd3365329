// StartBulkPutItems, DescribeBulkOperation, ListBulkOperations, CancelBulkOperation on a database.
#include <zlib.h>
#include <zstd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "storage/buckets/object_digests.h"
#include "tests/support/files.h"
#include "tests/support/live_index.h"
#include "tests/support/repetitions.h"
#include "tests/support/test_database.h"

namespace itemdb::testing {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class BulkPutsTest : public ::testing::Test {
 protected:
  BulkPutsTest() { Open(TestDatabase::DefaultOptions(directory_.path() + "/data")); }
  void Open(DatabaseOptions options) {
    options.export_directory = directory_.path() + "/exports";
    options.clock_us = [this] { return RealMicros() + moved_us_; };
    fs::create_directories(options.export_directory + "/bucket");
    fs::create_directories(options.export_directory + "/reports");
    database_.reset();
    database_ = std::make_unique<TestDatabase>(options);
  }
  static int64_t RealMicros() {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
  Database& database() { return **database_; }

  std::string PathOf(const std::string& key) const { return directory_.path() + "/exports/bucket/" + key; }
  void Write(const std::string& key, const std::string& contents) {
    fs::create_directories(fs::path(PathOf(key)).parent_path());
    std::ofstream(PathOf(key), std::ios::binary) << contents;
  }
  void WriteGzip(const std::string& key, const std::string& contents) {
    gzFile file = gzopen(PathOf(key).c_str(), "wb");
    ASSERT_EQ(gzwrite(file, contents.data(), static_cast<unsigned>(contents.size())),
              static_cast<int>(contents.size()));
    ASSERT_EQ(gzclose(file), Z_OK);
  }
  static std::string Ungzipped(const std::string& path) {
    gzFile file = gzopen(path.c_str(), "rb");
    if (file == nullptr) return "(no file)";
    std::string text, buffer(1 << 16, '\0');
    for (int count = 0; (count = gzread(file, buffer.data(), static_cast<unsigned>(buffer.size()))) > 0;)
      text.append(buffer, 0, static_cast<size_t>(count));
    gzclose(file);
    return text;
  }

  static v1::StartBulkPutItemsRequest Request(const std::string& prefix = "") {
    v1::StartBulkPutItemsRequest request;
    request.set_table_name("Table");
    request.mutable_input()->set_s3_bucket("bucket");
    request.mutable_input()->set_s3_key_prefix(prefix);
    request.mutable_input()->set_input_format(v1::INPUT_FORMAT_DYNAMODB_JSON);
    request.mutable_output()->set_s3_bucket("reports");
    request.mutable_output()->add_output_type(v1::BULK_OUTPUT_TYPE_ERROR);
    request.mutable_output()->add_output_type(v1::BULK_OUTPUT_TYPE_CONDITION_CHECK_FAILURE);
    return request;
  }
  absl::StatusOr<v1::BulkOperationDescription> Start(const v1::StartBulkPutItemsRequest& request) {
    auto reply = Await<v1::StartBulkPutItemsReply>(
        [&](auto done) { database().StartBulkPutItems(request, std::move(done)); });
    if (!reply.ok()) return reply.status();
    return reply->description();
  }
  absl::StatusOr<v1::BulkOperationDescription> Describe(const std::string& arn) {
    v1::DescribeBulkOperationRequest request;
    request.set_bulk_operation_arn(arn);
    auto reply = database().DescribeBulkOperation(request);
    if (!reply.ok()) return reply.status();
    return reply->description();
  }
  absl::StatusOr<v1::BulkOperationStatus> Cancel(const std::string& arn) {
    v1::CancelBulkOperationRequest request;
    request.set_bulk_operation_arn(arn);
    auto reply = Await<v1::CancelBulkOperationReply>(
        [&](auto done) { database().CancelBulkOperation(request, std::move(done)); });
    if (!reply.ok()) return reply.status();
    EXPECT_EQ(reply->bulk_operation_arn(), arn);
    return reply->bulk_operation_status();
  }
  static bool HasEnded(const v1::BulkOperationDescription& description) {
    return description.bulk_operation_status() != v1::BULK_OPERATION_STATUS_IN_PROGRESS &&
           description.bulk_operation_status() != v1::BULK_OPERATION_STATUS_CANCELLING;
  }
  v1::BulkOperationDescription AwaitEnd(const std::string& arn) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (std::chrono::steady_clock::now() < until) {
      auto description = Describe(arn);
      EXPECT_TRUE(description.ok()) << description.status();
      if (!description.ok() || HasEnded(*description)) return *description;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ADD_FAILURE() << "the bulk put does not end";
    return {};
  }
  v1::BulkOperationDescription Run(const v1::StartBulkPutItemsRequest& request) {
    const auto begun = Start(request);
    EXPECT_TRUE(begun.ok()) << begun.status();
    return begun.ok() ? AwaitEnd(begun->bulk_operation_arn()) : v1::BulkOperationDescription();
  }
  // Written, failed, and with a false condition.
  static std::vector<int64_t> Counts(const v1::BulkOperationDescription& description) {
    EXPECT_EQ(description.processed_item_count(), description.written_item_count() +
                                                      description.failed_item_count() +
                                                      description.condition_check_failure_count());
    return {description.written_item_count(), description.failed_item_count(),
            description.condition_check_failure_count()};
  }
  // The folder of the report, and the lines of its lists.
  std::string ReportFolder(const v1::BulkOperationDescription& description) const {
    const std::string& arn = description.bulk_operation_arn();
    const std::string& prefix = description.output().s3_key_prefix();
    return directory_.path() + "/exports/" + description.output().s3_bucket() + "/" +
           (prefix.empty() ? "" : prefix + "/") + "AWSDynamoDB/bulk/" + arn.substr(arn.rfind('/') + 1) + "/";
  }
  std::string Errors(const v1::BulkOperationDescription& description) const {
    return Ungzipped(ReportFolder(description) + "errors/00000000.jsonl.gz");
  }
  std::string ConditionFailures(const v1::BulkOperationDescription& description) const {
    return Ungzipped(ReportFolder(description) + "condition-check-failures/00000000.jsonl.gz");
  }
  std::string Manifest(const v1::BulkOperationDescription& description) const {
    return ReadFile(ReportFolder(description) + "manifest.json");
  }

  // `more`: attributes, `siblings`: members of the line beside Item. Both begin with a comma.
  static std::string Line(const std::string& pk, const std::string& sk, const std::string& more = "",
                          const std::string& siblings = "") {
    return R"({"Item":{"pk":{"S":")" + pk + R"("},"sk":{"S":")" + sk + "\"}" + more + "}" + siblings + "}\n";
  }
  static constexpr char kIfNew[] = R"x(,"ConditionExpression":"attribute_not_exists(pk)")x";
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
  // A table with all kinds of indexes, and a stream.
  static v1::CreateTableRequest IndexedTable(const std::string& name) {
    v1::CreateTableRequest table = TableRequest(name);
    AddIndex(&table, "ByState", {"state:S"}, 1, v1::PROJECTION_TYPE_ALL);
    AddIndex(&table, "ByNumber", {"number:N", "sk:S"}, 1, v1::PROJECTION_TYPE_KEYS_ONLY);
    AddLocalIndex(&table, "ByText", "text", v1::PROJECTION_TYPE_ALL);
    table.set_stream_enabled(true);
    table.set_stream_view_type(v1::STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES);
    return table;
  }
  // Begins an operation that does not end by itself for a minute: it may put 1,024 items a second.
  std::string Hold(const std::string& token = "") {
    std::string lines;
    for (int i = 0; i < 60'000; ++i) lines += Line("held", std::to_string(i));
    Write("held/data", lines);
    v1::StartBulkPutItemsRequest request = Request("held/");
    request.set_max_write_request_units(1'024);
    request.set_client_token(token);
    const auto begun = Start(request);
    EXPECT_TRUE(begun.ok()) << begun.status();
    return begun.ok() ? begun->bulk_operation_arn() : "";
  }
  void AwaitFirstPuts(const std::string& arn) {
    for (int i = 0; i < 60'000 && Describe(arn)->written_item_count() == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_GT(Describe(arn)->written_item_count(), 0);
  }
  static std::string ReasonIn(const absl::Status& status) { return ReasonOf(status); }

  TemporaryDirectory directory_;
  std::atomic<int64_t> moved_us_ = 0;
  std::unique_ptr<TestDatabase> database_;
};

// BLK-03, BLK-06, BLK-11. The model of a bulk put is a table to which the same items were put one by one,
// with the same conditions: items, indexes, statistics and change records are equal.
TEST_F(BulkPutsTest, EqualsATableThatWasWritten) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  database_->CreateTable(IndexedTable("Written"));
  database_->CreateTable(IndexedTable("Table"));
  int64_t written = 0, failures = 0;
  for (int object = 0; object < 3; ++object) {
    std::string lines;
    for (int i = 0; i < 1500; ++i) {
      const std::string pk(1, static_cast<char>('a' + random() % 9)), sk = std::to_string(random() % 200);
      const std::string state = "state" + std::to_string(random() % 4);
      const std::string number = std::to_string(random() % 50);
      const std::string text(random() % 200, 'x');
      std::string more = R"(,"state":{"S":")" + state + R"("},"number":{"N":")" + number + "\"}";
      v1::Item item = Item({{"pk", S(pk)}, {"sk", S(sk)}, {"state", S(state)}, {"number", N(number)}});
      if (!text.empty()) {
        more += R"(,"text":{"S":")" + text + "\"}";
        item.MergeFrom(Item({{"text", S(text)}}));
      }
      wire::WriteItemRequest put;
      put.set_table_name("Written");
      put.set_key_or_item(item.SerializeAsString());
      std::string siblings;
      switch (random() % 3) {
        case 0:
          siblings = kIfNew;
          put.set_condition_expression("attribute_not_exists(pk)");
          break;
        case 1:
          siblings = R"x(,"ConditionExpression":"#n < :n or attribute_not_exists(#n)",)x"
                     R"("ExpressionAttributeNames":{"#n":"number"},)"
                     R"("ExpressionAttributeValues":{":n":{"N":")" +
                     number + "\"}}";
          put.set_condition_expression("#n < :n or attribute_not_exists(#n)");
          SetName(&put, "#n", "number");
          SetValue(&put, ":n", N(number));
          break;
        default:
          break;
      }
      lines += Line(pk, sk, more, siblings);
      const auto reply =
          Await<wire::WriteItemReply>([&](auto done) { database().PutItem(put, std::move(done), nullptr); });
      ASSERT_TRUE(reply.ok()) << reply.status();
      ++(reply->has_condition_failed() ? failures : written);
    }
    WriteGzip("data" + std::to_string(object), lines);
  }
  v1::StartBulkPutItemsRequest request = Request("data");
  request.mutable_input()->set_input_compression_type(v1::INPUT_COMPRESSION_TYPE_GZIP);
  const v1::BulkOperationDescription ended = Run(request);
  EXPECT_EQ(ended.bulk_operation_status(), v1::BULK_OPERATION_STATUS_COMPLETED) << ended.DebugString();
  EXPECT_THAT(Counts(ended), ElementsAre(written, 0, failures));
  const auto bytes = static_cast<int64_t>(fs::file_size(PathOf("data0")) + fs::file_size(PathOf("data1")) +
                                          fs::file_size(PathOf("data2")));
  EXPECT_EQ(ended.total_input_bytes(), bytes);
  EXPECT_EQ(ended.processed_input_bytes(), bytes);
  for (const char* index : {"", "ByState", "ByNumber", "ByText"})
    EXPECT_EQ(Contents("Table", index), Contents("Written", index)) << index;
  const std::string report = ConditionFailures(ended);
  EXPECT_EQ(std::count(report.begin(), report.end(), '\n'), failures);
  // Each item has the same changes in the same order in both tables.
  std::map<uint64_t, std::string> changes;
  for (uint64_t after = 0;;) {
    const auto page = database_->ReadChanges(after);
    ASSERT_TRUE(page.ok()) << page.status();
    if (page->records().empty()) break;
    for (const v1::ChangeRecord& record : page->records()) {
      if (record.has_new_image()) changes[record.table_storage_id()] += Show(record.new_image()) + "\n";
      after = record.change_sequence();
    }
  }
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes.begin()->second, changes.rbegin()->second);
  database_->CheckIsClean();
  database_->Reopen();
  EXPECT_EQ(Contents("Table"), Contents("Written"));
  EXPECT_EQ(Describe(ended.bulk_operation_arn())->DebugString(), ended.DebugString());
  database_->CheckIsClean();
}

// BLK-01, BLK-10.
TEST_F(BulkPutsTest, DescribesWhatWasAskedFor) {
  database_->CreateTable(TableRequest("Table"));
  Write("data", Line("a", "1"));
  v1::StartBulkPutItemsRequest request = Request("data");
  request.set_table_name("arn:aws:dynamodb:local:000000000000:table/Table");
  request.set_max_write_request_units(2'000);
  request.mutable_output()->set_s3_key_prefix("of/me");
  const auto begun = Start(request);
  ASSERT_TRUE(begun.ok()) << begun.status();
  EXPECT_EQ(begun->bulk_operation_status(), v1::BULK_OPERATION_STATUS_IN_PROGRESS);
  EXPECT_THAT(begun->bulk_operation_arn(),
              ::testing::MatchesRegex(
                  "arn:aws:dynamodb:local:000000000000:table/Table/bulk-operation/[0-9]{14}-[0-9a-f]{8}"));
  EXPECT_EQ(begun->table_arn(), "arn:aws:dynamodb:local:000000000000:table/Table");
  EXPECT_FALSE(begun->table_id().empty());
  EXPECT_FALSE(begun->client_token().empty());
  EXPECT_EQ(begun->input().s3_bucket_owner(), "000000000000");
  EXPECT_EQ(begun->input().input_compression_type(), v1::INPUT_COMPRESSION_TYPE_NONE);
  EXPECT_EQ(begun->performance_tier(), v1::BULK_PERFORMANCE_TIER_STANDARD);
  EXPECT_EQ(begun->max_write_request_units(), 2'000);
  EXPECT_FALSE(begun->has_total_input_bytes());
  const v1::BulkOperationDescription ended = AwaitEnd(begun->bulk_operation_arn());
  EXPECT_EQ(ended.bulk_operation_status(), v1::BULK_OPERATION_STATUS_COMPLETED);
  EXPECT_GE(ended.end_time_ms(), ended.start_time_ms());
  EXPECT_EQ(ended.failure_code(), "");
  EXPECT_EQ(ended.total_input_bytes(), static_cast<int64_t>(fs::file_size(PathOf("data"))));
  EXPECT_THAT(Manifest(ended), HasSubstr("\"files\":[]"));
  // The default is the bucket of the input. Later operations do not read reports.
  request = Request();
  request.mutable_output()->clear_s3_bucket();
  for (int i = 0; i < 2; ++i) {
    const v1::BulkOperationDescription own = Run(request);
    EXPECT_EQ(own.output().s3_bucket(), "bucket");
    EXPECT_THAT(Counts(own), ElementsAre(1, 0, 0));
    EXPECT_THAT(Manifest(own), HasSubstr("\"status\":\"COMPLETED\""));
  }
}

TEST_F(BulkPutsTest, RefusesRequestsThatAreNotValid) {
  database_->CreateTable(TableRequest("Table"));
  const auto expect_invalid = [&](const v1::StartBulkPutItemsRequest& request, const std::string& text) {
    const absl::Status status = Start(request).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(MessageOf(status), HasSubstr(text));
  };
  v1::StartBulkPutItemsRequest request = Request();
  request.mutable_input()->set_s3_bucket("../up");
  expect_invalid(request, "S3Bucket");
  request = Request();
  request.mutable_output()->set_s3_bucket("../up");
  expect_invalid(request, "S3Bucket");
  request = Request();
  request.mutable_output()->set_s3_key_prefix("../up");
  expect_invalid(request, "S3KeyPrefix '../up'");
  request = Request();
  request.mutable_output()->clear_output_type();
  expect_invalid(request, "OutputType");
  request = Request();
  request.mutable_output()->set_s3_sse_algorithm("ROT13");
  expect_invalid(request, "S3SseAlgorithm");
  request = Request();
  request.mutable_input()->set_input_format(v1::INPUT_FORMAT_CSV);
  expect_invalid(request, "InputFormat must be DYNAMODB_JSON or ION");
  request = Request();
  request.set_max_write_request_units(1'023);
  expect_invalid(request, "MaxWriteRequestUnits must be at least 1024; it is 1023");
  request = Request();
  request.set_client_token("a$b");
  expect_invalid(request, "ClientToken");
  request = Request();
  request.set_table_name("?");
  expect_invalid(request, "TableName");
  v1::ListBulkOperationsRequest list;
  EXPECT_EQ(database().ListBulkOperations(list)->operations_size(), 0);
}

// BLK-07, BLK-08.
TEST_F(BulkPutsTest, BadItemsAreReported) {
  v1::CreateTableRequest table = TableRequest("Table");
  AddIndex(&table, "ByState", {"state:S"}, 1, v1::PROJECTION_TYPE_ALL);
  database_->CreateTable(table);
  std::string lines = Line("a", "1");
  lines += R"({"Item":{"pk":{"S":"a"}}})"
           "\n";  // No sort key.
  lines += R"({"Item":{"pk":{"S":"a"},"sk":{"N":"1"}}})"
           "\n";                                                                     // Wrong type.
  lines += Line("a", "2", R"(,"text":{"S":")" + std::string(410'000, 'x') + "\"}");  // Too large.
  lines += Line("a", "3", R"(,"state":{"N":"1"})");  // Wrong type for the index.
  lines += Line("", "4") + "\n" + Line("a", "5");
  lines += Line("a", "6", "", R"(,"ConditionExpression":"nonsense(")");
  lines += Line("a", "7", "", R"(,"ConditionExpression":"pk = :v")");
  lines += Line("a", "8", "", R"(,"ConditionExpression":"")");
  lines += Line("a", "9", "", R"x(,"ConditonExpression":"attribute_not_exists(pk)")x");
  lines += Line("a", "10", "", R"(,"ExpressionAttributeNames":{"#n":"a"})");
  lines += Line("a", "11", "", R"(,"ExpressionAttributeNames":{"#n":1})");
  lines += Line("a", "12");
  Write("data", lines);
  const v1::BulkOperationDescription ended = Run(Request());
  EXPECT_EQ(ended.bulk_operation_status(), v1::BULK_OPERATION_STATUS_COMPLETED_WITH_ERRORS);
  EXPECT_EQ(ended.failure_code(), "");
  EXPECT_THAT(Counts(ended), ElementsAre(3, 11, 0));
  EXPECT_THAT(Contents("Table"), ElementsAre("pk=a sk=1", "pk=a sk=12", "pk=a sk=5"));
  const std::string report = Errors(ended);
  EXPECT_EQ(std::count(report.begin(), report.end(), '\n'), 11) << report;
  for (int line : {2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 14})
    EXPECT_THAT(report,
                HasSubstr("{\"object\":\"data\",\"line\":" + std::to_string(line) + ",\"reason\":\""));
  EXPECT_THAT(report, HasSubstr("\"line\":12,\"reason\":\"the member ConditonExpression is unknown"));
  EXPECT_THAT(Manifest(ended), HasSubstr("\"outputType\":\"ERROR\",\"lineCount\":11,"));
  EXPECT_FALSE(fs::exists(ReportFolder(ended) + "condition-check-failures"));
  database_->CheckIsClean();
}

// BLK-06, BLK-08: lines on one key see each other.
TEST_F(BulkPutsTest, ConditionsSeeTheLinesBefore) {
  database_->CreateTable(TableRequest("Table"));
  ASSERT_TRUE(database_->Put("Table", {{"pk", S("old")}, {"sk", S("1")}}).ok());
  Write("data1", Line("new", "1", R"(,"v":{"N":"1"})", kIfNew) +
                     Line("new", "1", R"(,"v":{"N":"2"})", kIfNew) +
                     Line("old", "1", R"(,"v":{"N":"3"})", kIfNew) + Line("new", "2"));
  Write("data2", Line("new", "2", R"(,"v":{"N":"4"})", kIfNew) +
                     Line("new", "1", R"(,"v":{"N":"5"})",
                          R"(,"ConditionExpression":"#v = :v","ExpressionAttributeNames":{"#v":"v"},)"
                          R"("ExpressionAttributeValues":{":v":{"N":"1"}})"));
  const v1::BulkOperationDescription ended = Run(Request());
  EXPECT_EQ(ended.bulk_operation_status(), v1::BULK_OPERATION_STATUS_COMPLETED);
  EXPECT_THAT(Counts(ended), ElementsAre(3, 0, 3));
  EXPECT_THAT(Contents("Table"), ElementsAre("pk=new sk=1 v=5", "pk=new sk=2", "pk=old sk=1"));
  EXPECT_EQ(ConditionFailures(ended), R"({"object":"data1","line":2,"Key":{"pk":{"S":"new"},"sk":{"S":"1"}}})"
                                      "\n"
                                      R"({"object":"data1","line":3,"Key":{"pk":{"S":"old"},"sk":{"S":"1"}}})"
                                      "\n"
                                      R"({"object":"data2","line":1,"Key":{"pk":{"S":"new"},"sk":{"S":"2"}}})"
                                      "\n");
  EXPECT_FALSE(fs::exists(ReportFolder(ended) + "errors"));
}

// A list that was not asked for is not written.
TEST_F(BulkPutsTest, OnlyTheWantedListsAreWritten) {
  database_->CreateTable(TableRequest("Table"));
  Write("data", Line("a", "1", "", kIfNew) + Line("a", "1", "", kIfNew) + "{\"Item\":{}}\n");
  v1::StartBulkPutItemsRequest request = Request();
  request.mutable_output()->clear_output_type();
  request.mutable_output()->add_output_type(v1::BULK_OUTPUT_TYPE_ERROR);
  v1::BulkOperationDescription ended = Run(request);
  EXPECT_THAT(Counts(ended), ElementsAre(1, 1, 1));
  EXPECT_TRUE(fs::exists(ReportFolder(ended) + "errors"));
  EXPECT_FALSE(fs::exists(ReportFolder(ended) + "condition-check-failures"));
  request.mutable_output()->set_output_type(0, v1::BULK_OUTPUT_TYPE_CONDITION_CHECK_FAILURE);
  ended = Run(request);
  EXPECT_THAT(Counts(ended), ElementsAre(0, 1, 2));
  EXPECT_FALSE(fs::exists(ReportFolder(ended) + "errors"));
  EXPECT_TRUE(fs::exists(ReportFolder(ended) + "condition-check-failures"));
}

// BLK-07.
TEST_F(BulkPutsTest, ALineThatCannotBeParsedEndsItsObject) {
  database_->CreateTable(TableRequest("Table"));
  std::string lines;
  for (int i = 0; i < 5; ++i) lines += Line("a", std::to_string(i));
  lines += "no JSON\n";
  for (int i = 0; i < 20'000; ++i) lines += Line("b", std::to_string(i));
  Write("data1", lines);
  Write("data2", Line("c", "1"));
  WriteGzip("data3", Line("d", "1"));
  const v1::BulkOperationDescription ended = Run(Request());
  EXPECT_EQ(ended.bulk_operation_status(), v1::BULK_OPERATION_STATUS_COMPLETED_WITH_ERRORS);
  EXPECT_THAT(Counts(ended), ElementsAre(6, 2, 0));
  EXPECT_THAT(Contents("Table"), SizeIs(6));
  EXPECT_THAT(Errors(ended), HasSubstr("{\"object\":\"data1\",\"line\":6,"));
  EXPECT_THAT(Errors(ended), HasSubstr("{\"object\":\"data3\",\"line\":1,"));
  EXPECT_LT(ended.processed_input_bytes(), ended.total_input_bytes());
}

TEST_F(BulkPutsTest, ReadsAllFormatsAndCompressions) {
  database_->CreateTable(TableRequest("Table"));
  Write("ion",
        "$ion_1_0 {Item:{pk:\"a\",sk:\"1\",v:1}}\n"
        "{Item:{pk:\"a\",sk:\"1\",v:2},ConditionExpression:\"#v = :v\",ExpressionAttributeNames:{'#v':\"v\"},"
        "ExpressionAttributeValues:{':v':1}}\n"
        "{ConditionExpression:'attribute_not_exists(pk)',Item:{pk:\"a\",sk:\"1\",v:3}}\n"
        "{Item:{pk:\"a\",sk:\"2\"},Condition:1}\n{Item:{pk:\"a\",sk:\"3\"},ConditionExpression:1}\n"
        "{Item:{pk:\"a\",sk:\"4\"},ConditionExpression:\"attribute_not_exists(pk)\","
        "ExpressionAttributeValues:[1]}\n");
  v1::StartBulkPutItemsRequest request = Request("ion");
  request.mutable_input()->set_input_format(v1::INPUT_FORMAT_ION);
  v1::BulkOperationDescription ended = Run(request);
  EXPECT_THAT(Counts(ended), ElementsAre(2, 3, 1)) << Errors(ended);
  EXPECT_THAT(Contents("Table"), ElementsAre("pk=a sk=1 v=2"));
  WriteGzip("gzip", Line("b", "1"));
  request = Request("gzip");
  request.mutable_input()->set_input_compression_type(v1::INPUT_COMPRESSION_TYPE_GZIP);
  EXPECT_THAT(Counts(Run(request)), ElementsAre(1, 0, 0));
  const std::string line = Line("c", "1");
  std::string compressed(ZSTD_compressBound(line.size()), '\0');
  compressed.resize(ZSTD_compress(compressed.data(), compressed.size(), line.data(), line.size(), 3));
  Write("zstd", compressed);
  request = Request("zstd");
  request.mutable_input()->set_input_compression_type(v1::INPUT_COMPRESSION_TYPE_ZSTD);
  EXPECT_THAT(Counts(Run(request)), ElementsAre(1, 0, 0));
  EXPECT_THAT(Contents("Table"), SizeIs(3));
}

// BLK-05.
TEST_F(BulkPutsTest, TheTableMustBeThereAndWhole) {
  EXPECT_EQ(ReasonIn(Start(Request()).status()), kReasonResourceNotFound);
  // A table that is being imported.
  std::string lines;
  for (int i = 0; i < 200'000; ++i) lines += Line("a", std::to_string(i));
  Write("import/data", lines);
  v1::ImportTableRequest import;
  import.mutable_s3_bucket_source()->set_s3_bucket("bucket");
  import.mutable_s3_bucket_source()->set_s3_key_prefix("import/");
  import.set_input_format(v1::INPUT_FORMAT_DYNAMODB_JSON);
  *import.mutable_table_creation_parameters() = TableRequest("Table");
  ASSERT_TRUE(
      Await<v1::ImportTableReply>([&](auto done) { database().ImportTable(import, std::move(done)); }).ok());
  EXPECT_EQ(ReasonIn(Start(Request()).status()), kReasonResourceInUse);
  // CREATING until the import has ended.
  AwaitIndexes(database(), "Table");
  // An index that is being created.
  const auto updated = UpdateTable(database(), CreateIndexRequest("Table", "BySk", {"sk:S"}, 1));
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_EQ(ReasonIn(Start(Request()).status()), kReasonResourceInUse);
  AwaitIndexes(database(), "Table");
  EXPECT_TRUE(Start(Request("missing")).ok());
}

// An index that is created while the items are put has them all.
TEST_F(BulkPutsTest, AnIndexMayBeCreatedMeanwhile) {
  database_->CreateTable(TableRequest("Table"));
  std::string lines;
  for (int i = 0; i < 20'000; ++i)
    lines += Line("a" + std::to_string(i % 7), std::to_string(i),
                  R"(,"state":{"S":"s)" + std::to_string(i % 5) + "\"}");
  Write("data", lines);
  const auto begun = Start(Request());
  ASSERT_TRUE(begun.ok());
  const auto updated = UpdateTable(database(), CreateIndexRequest("Table", "ByState", {"state:S"}, 1));
  ASSERT_TRUE(updated.ok()) << updated.status();
  EXPECT_THAT(Counts(AwaitEnd(begun->bulk_operation_arn())), ElementsAre(20'000, 0, 0));
  AwaitIndexes(database(), "Table");
  EXPECT_THAT(Contents("Table", "ByState"), SizeIs(20'000));
  database_->CheckIsClean();
}

TEST_F(BulkPutsTest, FailsWhenTheTableIsDeleted) {
  database_->CreateTable(TableRequest("Table"));
  const std::string arn = Hold();
  AwaitFirstPuts(arn);
  v1::DeleteTableRequest remove;
  remove.set_table_name("Table");
  ASSERT_TRUE(
      Await<v1::DeleteTableReply>([&](auto done) { database().DeleteTable(remove, std::move(done)); }).ok());
  // Another table of the same name gets nothing.
  database_->CreateTable(TableRequest("Table"));
  const v1::BulkOperationDescription ended = AwaitEnd(arn);
  EXPECT_EQ(ended.bulk_operation_status(), v1::BULK_OPERATION_STATUS_FAILED);
  EXPECT_EQ(ended.failure_code(), "ResourceNotFoundException");
  EXPECT_THAT(ended.failure_message(), HasSubstr("Table was deleted"));
  EXPECT_GT(ended.written_item_count(), 0);
  EXPECT_THAT(Contents("Table"), IsEmpty());
  EXPECT_THAT(Manifest(ended), HasSubstr("\"failureCode\":\"ResourceNotFoundException\""));
  database_->CheckIsClean();
}

// BLK-02, BLK-03.
TEST_F(BulkPutsTest, FailsWithoutItsBuckets) {
  database_->CreateTable(TableRequest("Table"));
  Write("data", Line("a", "1"));
  v1::StartBulkPutItemsRequest request = Request();
  request.mutable_input()->set_s3_bucket("missing");
  v1::BulkOperationDescription ended = Run(request);
  EXPECT_EQ(ended.bulk_operation_status(), v1::BULK_OPERATION_STATUS_FAILED);
  EXPECT_EQ(ended.failure_code(), "S3NoSuchBucket");
  EXPECT_FALSE(ended.has_total_input_bytes());
  request = Request();
  request.mutable_output()->set_s3_bucket("missing");
  ended = Run(request);
  EXPECT_EQ(ended.failure_code(), "S3NoSuchBucket");
  EXPECT_THAT(Contents("Table"), IsEmpty());
  // The data files of an export without manifests.
  fs::create_directories(directory_.path() + "/exports/bucket/AWSDynamoDB/1/data");
  Write("AWSDynamoDB/1/data/one", Line("a", "1"));
  ended = Run(Request("AWSDynamoDB/1/data/"));
  EXPECT_EQ(ended.failure_code(), "ManifestValidationError");
  EXPECT_THAT(ended.failure_message(), HasSubstr("manifest-summary.json is missing"));
  EXPECT_THAT(Contents("Table"), IsEmpty());
  // No objects: nothing to do.
  ended = Run(Request("missing"));
  EXPECT_EQ(ended.bulk_operation_status(), v1::BULK_OPERATION_STATUS_COMPLETED);
  EXPECT_EQ(ended.total_input_bytes(), 0);
  EXPECT_THAT(Counts(ended), ElementsAre(0, 0, 0));
}

// BLK-08.
TEST_F(BulkPutsTest, TellsThatItsReportCannotBeWritten) {
  database_->CreateTable(TableRequest("Table"));
  std::string lines;
  for (int i = 0; i < 1'500; ++i) lines += Line("a", std::to_string(i));
  Write("data", lines);
  v1::StartBulkPutItemsRequest request = Request();
  request.set_max_write_request_units(1'024);
  const auto begun = Start(request);
  ASSERT_TRUE(begun.ok()) << begun.status();
  AwaitFirstPuts(begun->bulk_operation_arn());
  fs::remove(directory_.path() + "/exports/reports");
  const v1::BulkOperationDescription ended = AwaitEnd(begun->bulk_operation_arn());
  EXPECT_EQ(ended.bulk_operation_status(), v1::BULK_OPERATION_STATUS_FAILED);
  EXPECT_EQ(ended.failure_code(), "S3NoSuchBucket");
  EXPECT_THAT(ended.failure_message(), HasSubstr("The report could not be written: "));
  EXPECT_THAT(Counts(ended), ElementsAre(1'500, 0, 0));
}

// A full disk: the operation waits, and goes on when there is space again.
TEST_F(BulkPutsTest, WaitsForSpace) {
  database_->CreateTable(TableRequest("Table"));
  const std::string arn = Hold();
  AwaitFirstPuts(arn);
  DatabaseOptions full = database_->options();
  // Less than this is free, but enough for writes that free space.
  full.free_space_floor_bytes = 2 * fs::space(directory_.path()).free;
  Open(full);
  EXPECT_EQ(ReasonIn(database_->Put("Table", {{"pk", S("a")}, {"sk", S("1")}}).status()), kReasonDiskFull);
  const int64_t written = Describe(arn)->written_item_count();
  EXPECT_EQ(Describe(arn)->bulk_operation_status(), v1::BULK_OPERATION_STATUS_IN_PROGRESS);
  EXPECT_EQ(*Cancel(arn), v1::BULK_OPERATION_STATUS_CANCELLING);
  full.free_space_floor_bytes = 0;
  Open(full);
  const v1::BulkOperationDescription ended = AwaitEnd(arn);
  EXPECT_EQ(ended.bulk_operation_status(), v1::BULK_OPERATION_STATUS_CANCELLED);
  EXPECT_EQ(ended.written_item_count(), written);
  EXPECT_THAT(Contents("Table"), SizeIs(written));
}

// BLK-10.
TEST_F(BulkPutsTest, AnObjectMayHaveFiveGigabytes) {
  database_->CreateTable(TableRequest("Table"));
  Write("data1", Line("a", "1"));
  Write("data2", "");
  fs::resize_file(PathOf("data2"), (uintmax_t{5} << 30) + 1);  // Takes no space.
  const v1::BulkOperationDescription ended = Run(Request());
  EXPECT_EQ(ended.bulk_operation_status(), v1::BULK_OPERATION_STATUS_FAILED);
  EXPECT_EQ(ended.failure_code(), "LimitExceeded");
  EXPECT_THAT(ended.failure_message(), HasSubstr("data2"));
  EXPECT_THAT(Contents("Table"), IsEmpty());
}

// The list of the objects has several records.
// Names of files are any bytes, and the texts of records are not.
TEST_F(BulkPutsTest, AnErrorMayNameAFileWhoseNameIsNotUtf8) {
  database_->CreateTable(TableRequest("Table"));
  Write("caf\xe9.json", "");
  fs::resize_file(PathOf("caf\xe9.json"), (uintmax_t{5} << 30) + 1);
  const v1::BulkOperationDescription ended = Run(Request());
  EXPECT_EQ(ended.bulk_operation_status(), v1::BULK_OPERATION_STATUS_FAILED);
  EXPECT_THAT(ended.failure_message(), HasSubstr("caf\\xe9.json"));
  // The record can be read, and others can begin.
  fs::remove(PathOf("caf\xe9.json"));
  Write("good.json", Line("a", "b"));
  EXPECT_EQ(Counts(Run(Request())), (std::vector<int64_t>{1, 0, 0}));
}

TEST_F(BulkPutsTest, ThePrefixOfTheReportMayEndInASlash) {
  database_->CreateTable(TableRequest("Table"));
  Write("good.json", Line("a", "b"));
  v1::StartBulkPutItemsRequest request = Request();
  request.mutable_output()->set_s3_key_prefix("some/reports/");
  const v1::BulkOperationDescription ended = Run(request);
  EXPECT_EQ(ended.bulk_operation_status(), v1::BULK_OPERATION_STATUS_COMPLETED) << ended.failure_message();
  const std::string& arn = ended.bulk_operation_arn();
  EXPECT_TRUE(fs::exists(directory_.path() + "/exports/reports/some/reports/AWSDynamoDB/bulk/" +
                         arn.substr(arn.rfind('/') + 1) + "/manifest.json"));
}

TEST_F(BulkPutsTest, ReadsManyObjects) {
  database_->CreateTable(TableRequest("Table"));
  for (int i = 0; i < 2'500; ++i) Write("data/" + std::to_string(i), Line("a", std::to_string(i)));
  EXPECT_THAT(Counts(Run(Request("data/"))), ElementsAre(2'500, 0, 0));
  EXPECT_THAT(Contents("Table"), SizeIs(2'500));
}

// BLK-04.
TEST_F(BulkPutsTest, ATokenIsKnownForEightHours) {
  database_->CreateTable(TableRequest("Table"));
  Write("data", Line("a", "1"));
  v1::StartBulkPutItemsRequest request = Request();
  request.set_client_token("token");
  const v1::BulkOperationDescription ended = Run(request);
  request.set_table_name("arn:aws:dynamodb:local:000000000000:table/Table");
  moved_us_ = int64_t{8} * 3'600 * 1'000'000 - 60'000'000;
  const auto same = Start(request);
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(same->DebugString(), ended.DebugString());
  v1::StartBulkPutItemsRequest other = request;
  other.mutable_input()->set_s3_key_prefix("x");
  EXPECT_EQ(ReasonIn(Start(other).status()), kReasonIdempotentParameterMismatch);
  moved_us_ = int64_t{8} * 3'600 * 1'000'000 + 60'000'000;
  const auto again = Start(other);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_NE(again->bulk_operation_arn(), ended.bulk_operation_arn());
}

// BLK-09.
TEST_F(BulkPutsTest, CancelKeepsWhatWasPut) {
  database_->CreateTable(TableRequest("Table"));
  const std::string arn = Hold();
  AwaitFirstPuts(arn);
  const auto cancelled = Cancel(arn);
  ASSERT_TRUE(cancelled.ok()) << cancelled.status();
  EXPECT_EQ(*cancelled, v1::BULK_OPERATION_STATUS_CANCELLING);
  const v1::BulkOperationDescription ended = AwaitEnd(arn);
  EXPECT_EQ(ended.bulk_operation_status(), v1::BULK_OPERATION_STATUS_CANCELLED);
  EXPECT_EQ(ended.failure_code(), "Cancelled");
  EXPECT_GT(ended.written_item_count(), 0);
  EXPECT_LT(ended.written_item_count(), 60'000);
  EXPECT_THAT(Contents("Table"), SizeIs(ended.written_item_count()));
  EXPECT_THAT(Manifest(ended), HasSubstr("\"status\":\"CANCELLED\""));
  // An operation that has ended stays as it is.
  EXPECT_EQ(*Cancel(arn), v1::BULK_OPERATION_STATUS_CANCELLED);
  database_->Reopen();
  EXPECT_EQ(Describe(arn)->DebugString(), ended.DebugString());
  database_->CheckIsClean();
}

// One operation is made after another. Each can be cancelled, also before its first line.
TEST_F(BulkPutsTest, OperationsAreMadeOneAfterAnother) {
  database_->CreateTable(TableRequest("Table"));
  Write("data", Line("a", "1"));
  const std::string first = Hold();
  AwaitFirstPuts(first);
  const auto second = Start(Request("data"));
  const auto third = Start(Request("data"));
  ASSERT_TRUE(second.ok() && third.ok());
  EXPECT_EQ(*Cancel(third->bulk_operation_arn()), v1::BULK_OPERATION_STATUS_CANCELLING);
  EXPECT_EQ(Describe(third->bulk_operation_arn())->bulk_operation_status(),
            v1::BULK_OPERATION_STATUS_CANCELLING);
  EXPECT_EQ(Describe(second->bulk_operation_arn())->bulk_operation_status(),
            v1::BULK_OPERATION_STATUS_IN_PROGRESS);
  ASSERT_TRUE(Cancel(first).ok());
  EXPECT_EQ(AwaitEnd(first).bulk_operation_status(), v1::BULK_OPERATION_STATUS_CANCELLED);
  EXPECT_THAT(Counts(AwaitEnd(second->bulk_operation_arn())), ElementsAre(1, 0, 0));
  EXPECT_EQ(AwaitEnd(third->bulk_operation_arn()).bulk_operation_status(),
            v1::BULK_OPERATION_STATUS_CANCELLED);
}

TEST_F(BulkPutsTest, FiftyMayWait) {
  database_->CreateTable(TableRequest("Table"));
  std::vector<std::string> arns = {Hold()};
  for (int i = 1; i < 50; ++i) {
    const auto begun = Start(Request("missing"));
    ASSERT_TRUE(begun.ok()) << begun.status();
    arns.push_back(begun->bulk_operation_arn());
  }
  EXPECT_EQ(ReasonIn(Start(Request("missing")).status()), kReasonLimitExceeded);
  ASSERT_TRUE(Cancel(arns[0]).ok());
  for (const std::string& arn : arns) AwaitEnd(arn);
  EXPECT_TRUE(Start(Request("missing")).ok());
}

// BLK-09.
TEST_F(BulkPutsTest, OperationsAreListedForNinetyDays) {
  database_->CreateTable(TableRequest("Table"));
  v1::CreateTableRequest other = TableRequest("Other");
  database_->CreateTable(other);
  std::vector<std::string> arns;
  for (int i = 0; i < 12; ++i) {
    v1::StartBulkPutItemsRequest request = Request("missing");
    if (i == 3) request.set_table_name("Other");
    arns.push_back(Run(request).bulk_operation_arn());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  v1::DeleteTableRequest remove;
  remove.set_table_name("Other");
  ASSERT_TRUE(
      Await<v1::DeleteTableReply>([&](auto done) { database().DeleteTable(remove, std::move(done)); }).ok());
  database_->Reopen();
  EXPECT_TRUE(Describe(arns[3]).ok());
  v1::ListBulkOperationsRequest list;
  const auto first = database().ListBulkOperations(list);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_EQ(first->operations_size(), 10);
  EXPECT_EQ(first->operations(0).bulk_operation_arn(), arns[11]);
  EXPECT_THAT(first->next_token(), ::testing::MatchesRegex("([0-9a-f]{16})+"));
  list.set_next_token(first->next_token());
  const auto second = database().ListBulkOperations(list);
  ASSERT_EQ(second->operations_size(), 2);
  EXPECT_EQ(second->operations(1).bulk_operation_arn(), arns[0]);
  EXPECT_EQ(second->next_token(), "");
  list.Clear();
  EXPECT_EQ(database()
                .ListBulkOperations(list, [](std::string_view name) { return name == "Other"; })
                ->operations_size(),
            1);
  list.set_max_results(26);
  EXPECT_FALSE(database().ListBulkOperations(list).ok());
  list.set_max_results(1);
  list.set_next_token("ff");
  EXPECT_FALSE(database().ListBulkOperations(list).ok());

  const std::string arn = "arn:aws:dynamodb:local:000000000000:table/Table/";
  for (const auto& status : {Describe(arn + "bulk-operation/01700000000000-0123abcd").status(),
                             Cancel(arn + "bulk-operation/01700000000000-0123abcd").status()})
    EXPECT_EQ(ReasonIn(status), kReasonResourceNotFound);
  EXPECT_EQ(MessageOf(Describe(arn + "import/01700000000000-0123abcd").status()),
            "Invalid Bulk Operation ARN");
  EXPECT_EQ(ReasonIn(Describe("arn:aws:dynamodb:local:111111111111:table/Table/bulk-operation/"
                              "01700000000000-0123abcd")
                         .status()),
            kReasonAccessDenied);

  moved_us_ = int64_t{91} * 24 * 3'600 * 1'000'000;
  EXPECT_EQ(ReasonIn(Describe(arns[11]).status()), kReasonResourceNotFound);
  EXPECT_EQ(database().ListBulkOperations({})->operations_size(), 0);
  // A new operation deletes their records.
  AwaitEnd(Start(Request("missing"))->bulk_operation_arn());
  moved_us_ = 0;
  EXPECT_EQ(ReasonIn(Describe(arns[11]).status()), kReasonResourceNotFound);
}

// BLK-11: a database that is closed during a bulk put goes on after the last line that was put. Each line is
// put once: the condition of a line is false only if an earlier line has put its key.
TEST_F(BulkPutsTest, GoesOnAfterARestart) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  v1::CreateTableRequest table = TableRequest("Table");
  AddIndex(&table, "BySk", {"sk:S"}, 1, v1::PROJECTION_TYPE_ALL);
  database_->CreateTable(table);
  constexpr int kLines = kHasSanitizer ? 3'000 : 20'000, kObjects = 4;
  int failures = 0;
  std::string expected;
  for (int object = 0; object < kObjects; ++object) {
    std::string lines;
    const std::string name = "data" + std::to_string(object);
    for (int i = 0; i < kLines; ++i) {
      // Each tenth line repeats a key.
      const bool repeats = i % 10 == 9;
      const std::string sk = std::to_string(repeats ? i - 5 : i);
      lines += Line(name, sk, "", kIfNew);
      if (!repeats) continue;
      ++failures;
      expected += R"({"object":")" + name + R"(","line":)" + std::to_string(i + 1) +
                  R"(,"Key":{"pk":{"S":")" + name + R"("},"sk":{"S":")" + sk + "\"}}}\n";
    }
    WriteGzip(name, lines);
  }
  v1::StartBulkPutItemsRequest request = Request();
  request.mutable_input()->set_input_compression_type(v1::INPUT_COMPRESSION_TYPE_GZIP);
  const auto begun = Start(request);
  ASSERT_TRUE(begun.ok()) << begun.status();
  const std::string arn = begun->bulk_operation_arn();
  int restarts = 0;
  while (!HasEnded(*Describe(arn)) && restarts < 1'000) {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % (kHasSanitizer ? 200'000 : 50'000)));
    // The bucket gets objects that were not there when the operation began.
    Write("data0later" + std::to_string(restarts), Line("later", std::to_string(restarts)));
    database_->Reopen();
    ++restarts;
  }
  const v1::BulkOperationDescription ended = AwaitEnd(arn);
  std::printf("%d restarts\n", restarts);
  EXPECT_EQ(ended.bulk_operation_status(), v1::BULK_OPERATION_STATUS_COMPLETED) << ended.DebugString();
  EXPECT_THAT(Counts(ended), ElementsAre(kObjects * kLines - failures, 0, failures));
  EXPECT_EQ(ended.processed_input_bytes(), ended.total_input_bytes());
  EXPECT_EQ(ConditionFailures(ended), expected);
  EXPECT_THAT(Contents("Table"), SizeIs(kObjects * kLines - failures));
  EXPECT_THAT(Contents("Table", "BySk"), SizeIs(kObjects * kLines - failures));
  database_->CheckIsClean();
}

// An object that changes while the operation runs is an error.
TEST_F(BulkPutsTest, AnObjectThatChangesIsAnError) {
  database_->CreateTable(TableRequest("Table"));
  Write("held/data2", Line("b", "1"));
  const std::string arn = Hold();
  AwaitFirstPuts(arn);
  Write("held/data2", Line("b", "1") + Line("b", "2"));
  database_->Reopen();
  // The first object changes too.
  Write("held/data", Line("c", "1"));
  const v1::BulkOperationDescription ended = AwaitEnd(arn);
  EXPECT_EQ(ended.bulk_operation_status(), v1::BULK_OPERATION_STATUS_COMPLETED_WITH_ERRORS);
  EXPECT_EQ(ended.failed_item_count(), 2);
  EXPECT_THAT(Errors(ended), HasSubstr("\"object\":\"held/data2\",\"reason\":\"the object was changed"));
}

// An export of several files, as the service writes it, but for their sizes and their compression.
class ExportBulkPutsTest : public BulkPutsTest {
 protected:
  ExportBulkPutsTest() { database_->CreateTable(TableRequest("Table")); }
  static std::string Md5Text(const std::string& contents) {
    storage::ObjectDigests digests;
    digests.Add(contents);
    return absl::Base64Escape(digests.Finish("").md5);
  }
  void WriteExport(const std::map<std::string, std::string>& files) {
    std::string list;
    for (const auto& [name, contents] : files) {
      Write(folder_ + "data/" + name, contents);
      list += R"({"itemCount":1,"md5Checksum":")" + Md5Text(contents) + R"(","dataFileS3Key":")" + folder_ +
              "data/" + name + "\"}\n";
    }
    Write(folder_ + "manifest-files.json", list);
    Write(folder_ + "manifest-summary.json", R"({"version":"2020-06-30","outputFormat":"DYNAMODB_JSON"})");
  }
  v1::BulkOperationDescription PutExport() { return Run(Request(folder_ + "data/")); }
  void ExpectRefused(const std::string& text) {
    const v1::BulkOperationDescription ended = PutExport();
    EXPECT_EQ(ended.bulk_operation_status(), v1::BULK_OPERATION_STATUS_FAILED);
    EXPECT_EQ(ended.failure_code(), "ManifestValidationError");
    EXPECT_THAT(ended.failure_message(), HasSubstr(text));
    EXPECT_THAT(Counts(ended), ElementsAre(0, 0, 0));
    EXPECT_THAT(Contents("Table"), IsEmpty());
  }

  const std::string folder_ = "nightly/AWSDynamoDB/1/";
};

// IMP-15. The files before it are not put either.
TEST_F(ExportBulkPutsTest, AFileWithAnotherMd5IsRefused) {
  WriteExport({{"one", Line("a", "1")}, {"two", Line("b", "1")}});
  for (const std::string& contents :
       {Line("b", "9"), Line("b", "1") + Line("b", "2"), std::string("no item\n"), Line("b", "1") + "no"}) {
    Write(folder_ + "data/two", contents);
    ExpectRefused("the data file " + folder_ + "data/two has another MD5 than manifest-files.json says");
  }
  Write(folder_ + "data/two", Line("b", "1"));
  const v1::BulkOperationDescription ended = PutExport();
  EXPECT_EQ(ended.bulk_operation_status(), v1::BULK_OPERATION_STATUS_COMPLETED);
  EXPECT_THAT(Counts(ended), ElementsAre(2, 0, 0));
  EXPECT_THAT(Contents("Table"), ElementsAre("pk=a sk=1", "pk=b sk=1"));
}

// A bulk put that goes on after a restart puts nothing of a file that was changed meanwhile.
TEST_F(ExportBulkPutsTest, AFileThatChangesBeforeARestartIsAnError) {
  std::string lines;
  for (int i = 0; i < 3'000; ++i) lines += Line("held", std::to_string(i));
  WriteExport({{"one", lines}, {"two", Line("b", "1")}});
  v1::StartBulkPutItemsRequest request = Request(folder_ + "data/");
  request.set_max_write_request_units(1'024);
  const auto begun = Start(request);
  ASSERT_TRUE(begun.ok()) << begun.status();
  AwaitFirstPuts(begun->bulk_operation_arn());
  Write(folder_ + "data/two", Line("b", "9"));
  database_->Reopen();
  const v1::BulkOperationDescription ended = AwaitEnd(begun->bulk_operation_arn());
  EXPECT_EQ(ended.bulk_operation_status(), v1::BULK_OPERATION_STATUS_COMPLETED_WITH_ERRORS);
  EXPECT_THAT(Counts(ended), ElementsAre(3'000, 1, 0));
  EXPECT_THAT(Errors(ended), HasSubstr("data/two\",\"reason\":\"the object was changed"));
  EXPECT_THAT(Contents("Table"), SizeIs(3'000));
}

// BLK-11: an encrypted database does the same. Reports are not encrypted.
TEST_F(BulkPutsTest, PutsIntoAnEncryptedDatabase) {
  DatabaseOptions options = TestDatabase::DefaultOptions(directory_.path() + "/encrypted");
  options.encryption_keys = KeysOf({"first"});
  Open(options);
  database_->CreateTable(TableRequest("Table"));
  Write("data", Line("a", "secret-text", "", kIfNew) + Line("a", "secret-text", "", kIfNew));
  const v1::BulkOperationDescription ended = Run(Request());
  EXPECT_THAT(Counts(ended), ElementsAre(1, 0, 1));
  database_->Reopen();
  EXPECT_THAT(Contents("Table"), ElementsAre("pk=a sk=secret-text"));
  database_->Close();
  EXPECT_THAT(FilesWith(directory_.path() + "/encrypted", "secret-text"), IsEmpty());
}

// Large old items do not make large commits: each commit ends at some MiB, and the next goes on.
TEST_F(BulkPutsTest, ReplacesLargeItems) {
  database_->CreateTable(IndexedTable("Table"));
  std::string first, second;
  for (int i = 0; i < 60; ++i) {
    first += Line("a", std::to_string(i),
                  R"(,"state":{"S":"s"},"big":{"S":")" + std::string(300'000, 'x') + "\"}");
    second += Line("a", std::to_string(i), R"(,"state":{"S":"t"})");
  }
  Write("data1", first);
  Write("data2", second);
  EXPECT_THAT(Counts(Run(Request())), ElementsAre(120, 0, 0));
  EXPECT_THAT(Contents("Table", "ByState"), SizeIs(60));
  database_->CheckIsClean();
}

}  // namespace
}  // namespace itemdb::testing
