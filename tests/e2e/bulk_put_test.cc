// Bulk puts into a running itemd: by itemctl and the client library, also through kill -9.
//
// ITEMDB_KILL9_CYCLES sets the number of kills (default 50; 6 in sanitizer builds, which are slower).
// ITEMDB_TEST_SEED repeats the random choices of a run, but not its timing.
#include <zlib.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "tests/e2e/e2e_fixture.h"
#include "tests/support/kills.h"
#include "tests/support/repetitions.h"

namespace itemdb::e2e {
namespace {

using ::testing::HasSubstr;

constexpr int kBulkLines = testing::kHasSanitizer ? 3'000 : 30'000;
// Each tenth line repeats the key of the fifth line before it.
constexpr int kRepeatEvery = 10;
constexpr int kRepeated = kBulkLines / kRepeatEvery;

class BulkPutE2e : public E2eTest {
 protected:
  void SetUp() override {
    // The same address after each start.
    daemon_.set_listen({"unix:" + directory_.path() + "/s"});
    E2eTest::SetUp();
    // Without --export-directory the buckets are in the data directory.
    std::filesystem::create_directories(Bucket() + "/in");
    std::ofstream first(Bucket() + "/in/1.json"), second(Bucket() + "/in/2.json");
    for (int i = 0; i < kBulkLines; ++i) {
      const bool repeats = i % kRepeatEvery == kRepeatEvery - 1;
      const std::string pk = std::to_string(repeats ? i - 5 : i);
      const bool is_first = i < kBulkLines / 2;
      (is_first ? first : second) << R"x({"Item":{"pk":{"S":")x" << pk << R"x("},"line":{"N":")x" << i
                                  << R"x("},"group":{"S":"g)x" << i % 7
                                  << R"x("}},"ConditionExpression":"attribute_not_exists(pk)"})x"
                                  << "\n";
      if (!repeats) continue;
      const int line = (is_first ? i : i - kBulkLines / 2) + 1;
      failures_ += R"({"object":"in/)" + std::string(is_first ? "1" : "2") + R"(.json","line":)" +
                   std::to_string(line) + R"(,"Key":{"pk":{"S":")" + pk + "\"}}}\n";
    }
  }
  std::string Bucket() const { return daemon_.data_directory() + "/exports/bucket"; }

  static TableDefinition TableOf(const std::string& name) {
    return {.table_name = name,
            .attribute_definitions = {{"pk", ScalarAttributeType::kString},
                                      {"group", ScalarAttributeType::kString}},
            .key_schema = {{"pk", KeyType::kHash}},
            .global_secondary_indexes = {{.index_name = "ByGroup",
                                          .key_schema = {{"group", KeyType::kHash}},
                                          .projection = {.projection_type = ProjectionType::kAll}}}};
  }
  static StartBulkPutItemsRequest RequestOf(const std::string& table) {
    return {.table_name = table, .s3_bucket = "bucket", .s3_key_prefix = "in/"};
  }
  static bool Runs(const BulkOperationDescription& operation) {
    return operation.bulk_operation_status == BulkOperationStatus::kInProgress;
  }
  static std::optional<BulkOperationDescription> AwaitBulkPut(Client& client, const std::string& arn) {
    for (int i = 0; i < 60'000; ++i) {
      const absl::StatusOr<BulkOperationDescription> operation = client.DescribeBulkOperation(arn);
      EXPECT_TRUE(operation.ok()) << operation.status();
      if (!operation.ok()) return std::nullopt;
      if (!Runs(*operation)) return *operation;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ADD_FAILURE() << arn << " stays IN_PROGRESS";
    return std::nullopt;
  }
  // The list of the items whose condition was false.
  std::string FailuresOf(const BulkOperationDescription& operation) const {
    const std::string& arn = operation.bulk_operation_arn;
    const std::string path = Bucket() + "/AWSDynamoDB/bulk/" + arn.substr(arn.rfind('/') + 1) +
                             "/condition-check-failures/00000000.jsonl.gz";
    gzFile file = gzopen(path.c_str(), "rb");
    if (file == nullptr) return "there is no " + path;
    std::string text, buffer(1 << 16, '\0');
    for (int count = 0; (count = gzread(file, buffer.data(), static_cast<unsigned>(buffer.size()))) > 0;)
      text.append(buffer, 0, static_cast<size_t>(count));
    gzclose(file);
    return text;
  }
  void ExpectWhole(Client& client, const std::string& table, const BulkOperationDescription& operation) {
    EXPECT_EQ(operation.bulk_operation_status, BulkOperationStatus::kCompleted) << operation.failure_message;
    EXPECT_EQ(operation.written_item_count, kBulkLines - kRepeated);
    EXPECT_EQ(operation.condition_check_failure_count, kRepeated);
    EXPECT_EQ(operation.failed_item_count, 0);
    // Compared as a whole, but not printed.
    EXPECT_TRUE(FailuresOf(operation) == failures_);
    const auto described = client.DescribeTable(table);
    ASSERT_TRUE(described.ok()) << described.status();
    EXPECT_EQ(described->table.item_count, kBulkLines - kRepeated);
    EXPECT_EQ(described->table.indexes[0].item_count, kBulkLines - kRepeated);
  }

  std::string failures_;
};

TEST_F(BulkPutE2e, ItemctlPutsTheItemsOfFiles) {
  Client client = OpenClient();
  ASSERT_TRUE(client.CreateTable(TableOf("Things")).ok());
  const Json ended =
      Document({"-o", "jsonl", "bulk-put", "start", "Things", "bucket", "--prefix", "in/", "--wait"});
  EXPECT_EQ(ended["BulkOperationStatus"], "COMPLETED");
  EXPECT_EQ(ended["WrittenItemCount"], kBulkLines - kRepeated);
  EXPECT_EQ(ended["ConditionCheckFailureCount"], kRepeated);
  KillAndRestart();
  EXPECT_EQ(Document({"-o", "jsonl", "bulk-put", "list"})["BulkOperations"].size(), 1u);
  EXPECT_EQ(Document({"-o", "jsonl", "bulk-put", "describe", "Things"}), ended);
  // At 1,024 units a second the other half takes long enough to be cancelled.
  ASSERT_EQ(Itemctl({"bulk-put", "start", "Things", "bucket", "--prefix", "in/", "--max-write-units", "1024"})
                .exit_code,
            0);
  const Json cancelled = Document({"-o", "jsonl", "bulk-put", "cancel", "Things"});
  EXPECT_EQ(cancelled["BulkOperationStatus"], "CANCELLING");
  const CommandResult failed = Itemctl({"-o", "jsonl", "bulk-put", "start", "Things", "missing", "--wait"});
  EXPECT_NE(failed.exit_code, 0);
  EXPECT_THAT(failed.err, HasSubstr("S3NoSuchBucket"));
  EXPECT_EQ(Document({"-o", "jsonl", "bulk-put", "describe", cancelled["BulkOperationArn"]})["FailureCode"],
            "Cancelled");
  ExpectCheckIsClean();
}

// BLK-11: at any moment of a bulk put. Afterwards the operation that was answered goes on, and each line is
// put once: a condition is false only because of an earlier line.
TEST_F(BulkPutE2e, Kill9PutsEachLineOnce) {
  const uint64_t seed = KillSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  Random random(seed);
  Client client = OpenClient();
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  ASSERT_TRUE(client.CreateTable(TableOf("Whole")).ok());
  const auto first = client.StartBulkPutItems(RequestOf("Whole"));
  ASSERT_TRUE(first.ok()) << first.status();
  const auto whole = AwaitBulkPut(client, first->bulk_operation_arn);
  ASSERT_TRUE(whole.has_value());
  ExpectWhole(client, "Whole", *whole);
  const int64_t whole_us =
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin).count();

  KilledRounds rounds("a bulk put");
  for (int kills = 0, cycle = 0; kills < Kills(); ++cycle) {
    const std::string name = "Copy" + std::to_string(cycle);
    SCOPED_TRACE(name);
    ASSERT_TRUE(client.CreateTable(TableOf(name)).ok());
    absl::StatusOr<BulkOperationDescription> begun = absl::UnknownError("not asked for");
    std::thread call([&] {
      Client other = OpenClient();
      begun = other.StartBulkPutItems(RequestOf(name), OneAttempt());
    });
    std::string arn;
    // Several kills of one operation.
    for (bool runs = true; runs && kills < Kills(); ++kills) {
      std::this_thread::sleep_for(std::chrono::microseconds(Pick(random, 0, whole_us)));
      daemon_.Kill();
      if (call.joinable()) call.join();
      const absl::Status started = daemon_.Start();
      ASSERT_TRUE(started.ok()) << started;
      const auto listed = client.ListBulkOperations({.max_results = 1});
      ASSERT_TRUE(listed.ok()) << listed.status();
      const bool is_listed =
          !listed->operations.empty() && listed->operations[0].table_arn.ends_with("/" + name);
      EXPECT_TRUE(!begun.ok() || is_listed) << "a bulk put that was answered is lost";
      runs = is_listed && Runs(listed->operations[0]);
      if (is_listed) arn = listed->operations[0].bulk_operation_arn;
      rounds.Add({.was_interrupted = runs, .is_whole = is_listed});
    }
    if (call.joinable()) call.join();
    if (!arn.empty()) {
      const auto operation = AwaitBulkPut(client, arn);
      ASSERT_TRUE(operation.has_value());
      ExpectWhole(client, name, *operation);
    }
    if (cycle % 10 == 0) ExpectCheckIsClean();
    ASSERT_TRUE(client.DeleteTable(name).ok());
  }
  ExpectCheckIsClean();
}

}  // namespace
}  // namespace itemdb::e2e
