// Imports into a running itemd: by itemctl and the client library, also through kill -9.
//
// ITEMDB_KILL9_CYCLES sets the number of kills (default 50; 6 in sanitizer builds, which are slower).
// ITEMDB_TEST_SEED repeats the random choices of a run, but not its timing.
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

constexpr int kImportedItems = testing::kHasSanitizer ? 3'000 : 20'000;

class ImportE2e : public E2eTest {
 protected:
  void SetUp() override {
    // The same address after each start.
    daemon_.set_listen({"unix:" + directory_.path() + "/s"});
    E2eTest::SetUp();
    // Without --export-directory the buckets are in the data directory.
    const std::string bucket = daemon_.data_directory() + "/exports/bucket";
    std::filesystem::create_directories(bucket);
    std::ofstream good(bucket + "/good.json"), bad(bucket + "/bad.json");
    for (int i = 0; i < kImportedItems; ++i) {
      good << R"({"Item":{"pk":{"S":")" << i << R"("},"group":{"S":"g)" << i % 10 << R"("},"text":{"S":")"
           << std::string(100, static_cast<char>('a' + i % 26)) << "\"}}}\n";
    }
    bad << R"({"Item":{"pk":{"S":"a"}}})"
           "\n"
           R"({"Item":{"group":{"S":"b"}}})"
           "\n";
  }

  static TableDefinition TableOf(const std::string& name) {
    return {.table_name = name,
            .attribute_definitions = {{"pk", ScalarAttributeType::kString},
                                      {"group", ScalarAttributeType::kString}},
            .key_schema = {{"pk", KeyType::kHash}},
            .global_secondary_indexes = {{.index_name = "ByGroup",
                                          .key_schema = {{"group", KeyType::kHash}},
                                          .projection = {.projection_type = ProjectionType::kAll}}}};
  }
  static std::optional<ImportDescription> AwaitImport(Client& client, const std::string& arn) {
    for (int i = 0; i < 60'000; ++i) {
      const absl::StatusOr<ImportDescription> import = client.DescribeImport(arn);
      EXPECT_TRUE(import.ok()) << import.status();
      if (!import.ok()) return std::nullopt;
      if (import->import_status != ImportStatus::kInProgress) return *import;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ADD_FAILURE() << arn << " stays IN_PROGRESS";
    return std::nullopt;
  }
};

TEST_F(ImportE2e, ItemctlImportsFiles) {
  const std::string file = directory_.path() + "/table.json";
  std::ofstream(file) << R"({"TableName":"Things","BillingMode":"PAY_PER_REQUEST",
    "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
    "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]})";
  const CommandResult failed = Itemctl({"-o", "jsonl", "import", "start", "-f", file, "bucket", "--wait"});
  EXPECT_NE(failed.exit_code, 0);
  EXPECT_THAT(failed.err, HasSubstr("ItemValidationError"));
  EXPECT_EQ(Document({"-o", "jsonl", "table", "describe", "Things"})["ItemCount"], kImportedItems + 1);
  ASSERT_EQ(Itemctl({"table", "delete", "Things", "--yes"}).exit_code, 0);
  const Json good =
      Document({"-o", "jsonl", "import", "start", "-f", file, "bucket", "--prefix", "good", "--wait"});
  EXPECT_EQ(good["ImportStatus"], "COMPLETED");
  EXPECT_EQ(good["ImportedItemCount"], kImportedItems);
  KillAndRestart();
  EXPECT_EQ(Document({"-o", "jsonl", "import", "list"})["Imports"].size(), 2u);
  const Json described = Document({"-o", "jsonl", "import", "describe", "Things"});
  EXPECT_EQ(described["ImportArn"], good["ImportArn"]);
  EXPECT_EQ(described["ErrorCount"], 0);
  ExpectCheckIsClean();
}

// At any moment of an import: afterwards the import that was answered goes on, and its table is whole.
TEST_F(ImportE2e, Kill9LeavesWholeTables) {
  const uint64_t seed = KillSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  Random random(seed);
  Client client = OpenClient();
  const auto request = [](const std::string& name) {
    return ImportTableRequest{.s3_bucket = "bucket", .s3_key_prefix = "good", .table = TableOf(name)};
  };
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  const auto first = client.ImportTable(request("Whole"));
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(AwaitImport(client, first->import_arn).has_value());
  const int64_t whole_us =
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin).count();

  KilledRounds rounds("an import");
  for (int cycle = 0; cycle < Kills(); ++cycle) {
    SCOPED_TRACE("cycle " + std::to_string(cycle));
    const std::string name = "Copy" + std::to_string(cycle);
    absl::StatusOr<ImportDescription> begun = absl::UnknownError("not asked for");
    std::thread call([&] {
      Client other = OpenClient();
      begun = other.ImportTable(request(name), OneAttempt());
    });
    std::this_thread::sleep_for(std::chrono::microseconds(Pick(random, 0, whole_us)));
    daemon_.Kill();
    call.join();
    const absl::Status started = daemon_.Start();
    ASSERT_TRUE(started.ok()) << started;

    const auto listed = client.ListImports({.table_arn = name});
    ASSERT_TRUE(listed.ok()) << listed.status();
    EXPECT_TRUE(!begun.ok() || listed->imports.size() == 1) << "an import that was answered is lost";
    if (listed->imports.empty()) {
      EXPECT_TRUE(absl::IsNotFound(client.DescribeTable(name).status()));
      rounds.Add({});
      continue;
    }
    const auto import = AwaitImport(client, listed->imports[0].import_arn);
    ASSERT_TRUE(import.has_value());
    EXPECT_EQ(import->import_status, ImportStatus::kCompleted) << import->failure_message;
    EXPECT_EQ(import->imported_item_count, kImportedItems);
    const auto table = client.DescribeTable(name);
    ASSERT_TRUE(table.ok()) << table.status();
    EXPECT_EQ(table->table.table_status, TableStatus::kActive);
    EXPECT_EQ(table->table.item_count, kImportedItems);
    EXPECT_EQ(table->table.indexes[0].item_count, kImportedItems);
    if (cycle % 10 == 0) ExpectCheckIsClean();
    ASSERT_TRUE(client.DeleteTable(name).ok());
    rounds.Add(
        {.was_interrupted = listed->imports[0].import_status == ImportStatus::kInProgress, .is_whole = true});
  }
  ExpectCheckIsClean();
}

}  // namespace
}  // namespace itemdb::e2e
