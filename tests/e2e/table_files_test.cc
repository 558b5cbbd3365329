// `itemctl export table` and `import table` that are killed: the same command goes on, and nothing is lost or
// taken for whole before.
#include <fcntl.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "itemdb/bulk_writer.h"
#include "tests/e2e/e2e_fixture.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace itemdb::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr int kFilesItems = 20'000;
constexpr int kPollMs = 5;

class TableFilesE2eTest : public E2eTest {
 protected:
  void SetUp() override {
    E2eTest::SetUp();
    client_ = OpenClient();
    ASSERT_TRUE(client_
                    ->CreateTable({.table_name = "Things",
                                   .attribute_definitions = {{"id", ScalarAttributeType::kString}},
                                   .key_schema = {{"id", KeyType::kHash}}})
                    .ok());
    BulkWriter writer(*client_);
    for (int i = 0; i < kFilesItems; ++i) ASSERT_TRUE(writer.Put("Things", ThingOf(i, "a")).ok());
    ASSERT_TRUE(writer.Finish().ok());
  }

  // More than the connection buffers, so a stopped daemon stops itemctl in the middle.
  static Item ThingOf(int number, const std::string& state) {
    return {{"id", absl::StrCat("thing ", number)},
            {"number", number},
            {"state", state},
            {"text", std::string(1'000, static_cast<char>('a' + number % 26))}};
  }

  std::map<std::string, Item> ItemsOf(const std::string& table) {
    std::map<std::string, Item> items;
    ItemRange scan = client_->ScanAll({.table_name = table});
    for (const Item& item : scan) items.emplace(*item["id"].string_or_null(), item);
    EXPECT_TRUE(scan.status().ok()) << scan.status();
    return items;
  }

  // Starts itemctl, stops the daemon when `is_time` says so, kills itemctl with SIGKILL, and lets the daemon
  // go on.
  void KillInTheMiddle(std::vector<std::string> arguments, const std::function<bool()>& is_time) {
    arguments.insert(arguments.begin(), {"--endpoint", daemon_.endpoint()});
    const daemon::Descriptor null(open("/dev/null", O_RDWR | O_CLOEXEC));
    ChildProcess itemctl(testing::ProgramPath("itemctl"), arguments,
                         {.in = null.get(), .out = null.get(), .err = null.get()});
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
    while (!is_time() && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(kPollMs));
    daemon_.Signal(SIGSTOP);
    itemctl.Signal(SIGKILL);
    EXPECT_EQ(itemctl.Wait(), 128 + SIGKILL);
    daemon_.Signal(SIGCONT);
  }

  std::string File(const std::string& name) const { return directory_.path() + "/" + name; }

  std::optional<Client> client_;
};

TEST_F(TableFilesE2eTest, KilledExportIsNotWholeAndGoesOn) {
  const std::vector<std::string> command = {"-o",     "jsonl",       "export",           "table",
                                            "Things", File("files"), "--items-per-file", "200"};
  const auto files = [&] {
    std::error_code error;
    int count = 0;
    for (const auto& entry : fs::directory_iterator(File("files") + "/data", error))
      count += entry.path().extension() == ".gz" ? 1 : 0;
    return count;
  };
  int had = 0;
  for (int round = 0; round < 3; ++round) {
    KillInTheMiddle(command, [&] { return files() >= had + 3; });
    ASSERT_FALSE(fs::exists(File("files") + "/itemdb-manifest.json")) << "it was not killed in the middle";
    ASSERT_GE(files(), had + 3);
    had = files();
    const CommandResult refused = Itemctl({"import", "table", "Copy", File("files"), "--create"});
    EXPECT_NE(refused.exit_code, 0);
    EXPECT_THAT(refused.err, HasSubstr("was interrupted and is not whole"));
  }
  const CommandResult other = Itemctl({"export", "table", "Things", File("files"), "--format", "CSV"});
  EXPECT_NE(other.exit_code, 0);
  EXPECT_THAT(other.err, HasSubstr("is of another export"));
  const CommandResult made = Itemctl(command);
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.err, HasSubstr("the export goes on behind "));
  const Json summary = ParseLines(made.out).at(0);
  EXPECT_EQ(summary["items"], kFilesItems);
  EXPECT_EQ(summary["files"], kFilesItems / 200);
  EXPECT_EQ(summary["one_state"], false);
  const auto partial = [](const auto& entry) { return entry.path().extension() == ".partial"; };
  EXPECT_TRUE(
      std::none_of(fs::directory_iterator(File("files") + "/data"), fs::directory_iterator(), partial));
  ASSERT_EQ(Itemctl({"import", "table", "Copy", File("files"), "--create"}).exit_code, 0);
  EXPECT_TRUE(ItemsOf("Copy") == ItemsOf("Things"));
}

// Items that are written meanwhile are in the export as they were before, all of them, or the command begins
// again.
TEST_F(TableFilesE2eTest, ExportOfOneStateIsExactWhileItemsAreWritten) {
  std::atomic<bool> ends = false;
  std::atomic<int> rounds = 0;
  std::thread writer([&] {
    // All items of a batch have the same state before and after.
    for (int round = 0; !ends; ++round) {
      BatchWriteItemRequest batch;
      for (int i = 0; i < 20; ++i)
        batch.writes.push_back(BatchPut{"Things", ThingOf(i * 977, absl::StrCat("round ", round))});
      EXPECT_TRUE(client_->BatchWriteItem(batch).ok());
      rounds = round;
    }
  });
  while (rounds < 3) std::this_thread::yield();
  const std::vector<std::string> command = {
      "-o", "jsonl", "export", "table", "Things", File("files"), "--items-per-file", "200", "--one-state"};
  KillInTheMiddle(command, [&] { return fs::exists(File("files") + "/data/00000003.json.gz"); });
  const CommandResult made = Itemctl(command);
  ends = true;
  writer.join();
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.err, HasSubstr("beginning again"));
  EXPECT_EQ(ParseLines(made.out).at(0)["one_state"], true);
  ASSERT_EQ(Itemctl({"import", "table", "Copy", File("files"), "--create"}).exit_code, 0);
  const std::map<std::string, Item> items = ItemsOf("Copy");
  ASSERT_EQ(items.size(), static_cast<size_t>(kFilesItems));
  std::set<std::string> states;
  for (int i = 0; i < 20; ++i)
    states.insert(*items.at(absl::StrCat("thing ", i * 977))["state"].string_or_null());
  EXPECT_EQ(states.size(), 1u) << ::testing::PrintToString(states);
}

TEST_F(TableFilesE2eTest, KilledImportGoesOn) {
  // Small files, so that the state is stored often.
  ASSERT_EQ(Itemctl({"export", "table", "Things", File("files"), "--items-per-file", "200"}).exit_code, 0);
  const std::vector<std::string> command = {"-o",   "jsonl",       "import",  "table",
                                            "Copy", File("files"), "--create"};
  const std::string state = File("files") + "/itemdb-import-Copy.json";
  const auto file = [&]() -> int64_t {
    std::error_code error;
    if (!fs::exists(state, error)) return -1;
    const Json json = Json::parse(testing::ReadFile(state), nullptr, false);
    return json.is_object() ? json.value("file", int64_t{0}) : -1;
  };
  int64_t had = 0;
  for (int round = 0; round < 3; ++round) {
    KillInTheMiddle(command, [&] { return file() >= had + 3; });
    had = file();
    ASSERT_GE(had, 3) << "it was not killed in the middle";
    ASSERT_LT(had, kFilesItems / 200);
  }
  const CommandResult made = Itemctl(command);
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const Json summary = ParseLines(made.out).at(0);
  EXPECT_EQ(summary["items"], kFilesItems) << "each line is counted once";
  EXPECT_EQ(summary["left_out_lines"], 0);
  EXPECT_FALSE(fs::exists(state));
  EXPECT_TRUE(ItemsOf("Copy") == ItemsOf("Things"));
  ExpectCheckIsClean();
}

// The daemon's own exports are read too, and the daemon reads ours.
TEST_F(TableFilesE2eTest, ExportsOfTheDaemonAndOfItemctlAreReadByBoth) {
  fs::create_directories(daemon_.data_directory() + "/exports/bucket");
  ASSERT_EQ(Itemctl({"pitr", "enable", "Things"}).exit_code, 0);
  const Json made =
      Document({"-o", "jsonl", "export", "start", "Things", "bucket", "--prefix", "a/b", "--wait"});
  const std::string arn = made["ExportArn"];
  const std::string folder =
      daemon_.data_directory() + "/exports/bucket/a/b/AWSDynamoDB/" + arn.substr(arn.rfind('/') + 1);
  const CommandResult imported = Itemctl({"import", "table", "Copy", folder, "--create"});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_TRUE(ItemsOf("Copy") == ItemsOf("Things"));

  const std::string ours = daemon_.data_directory() + "/exports/ours";
  ASSERT_EQ(Itemctl({"export", "table", "Things", ours}).exit_code, 0);
  testing::WriteFile(
      File("table.json"),
      R"({"TableName": "Again", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}], "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}]})");
  const CommandResult read = Itemctl({"import", "start", "-f", File("table.json"), "ours", "--prefix",
                                      "data/", "--compression", "GZIP", "--wait"});
  ASSERT_EQ(read.exit_code, 0) << read.err;
  EXPECT_TRUE(ItemsOf("Again") == ItemsOf("Things"));
}

}  // namespace
}  // namespace itemdb::e2e
