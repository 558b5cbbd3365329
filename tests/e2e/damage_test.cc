// Damage in a table file of a running itemd: `itemctl damage`, `scan --skip-damage`, the log and the audit
// log.
#include <set>
#include <sstream>
#include <string>

#include "tests/e2e/e2e_fixture.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace itemdb::e2e {
namespace {

using ::testing::HasSubstr;

class DamageE2e : public E2eTest {
 protected:
  void SetUp() override { Start(); }
  void Start() {
    const absl::Status started = daemon_.Start({"--audit-log", audit_});
    ASSERT_TRUE(started.ok()) << started;
  }

  // A table with `count` items of 2 KB, in a table file with one damaged block in the middle.
  void MakeDamagedTable(int count) {
    const std::string definition = directory_.path() + "/table.json";
    testing::WriteFile(definition, R"({"TableName": "Parts", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]})");
    ASSERT_EQ(Itemctl({"table", "create", "-f", definition}).exit_code, 0);
    Client client = OpenClient();
    for (int i = 100; i < 100 + count; ++i) {
      const auto put = client.PutItem(
          {.table_name = "Parts", .item = {{"id", std::to_string(i)}, {"text", std::string(2'000, 'x')}}});
      ASSERT_TRUE(put.ok()) << put.status();
    }
    daemon_.Terminate();  // Writes the items to a table file.
    file_ = ItemsFile();
    const std::string path = daemon_.data_directory() + "/rocksdb/" + file_;
    std::string content = testing::ReadFile(path);
    // The blocks of records come first, and the filter, index and properties of these few items are small.
    content.at(content.size() / 3) ^= 0x20;
    testing::WriteFile(path, content);
    Start();
  }
  // The only table file of items. itemd must not run.
  std::string ItemsFile() const {
    const CommandResult inspected =
        RunProgram(testing::ProgramPath("itemd"), {"inspect", daemon_.data_directory()});
    std::istringstream lines(inspected.out);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream columns(line);
      std::string file, bytes, family;
      columns >> file >> bytes >> family;
      if (file.ends_with(".sst") && family == "items") return file;
    }
    ADD_FAILURE() << "no file of items: " << inspected.out << inspected.err;
    return "";
  }

  const std::string audit_ = directory_.path() + "/audit.jsonl";
  // The damaged one.
  std::string file_;
};

TEST_F(DamageE2e, HasAWayPastItFromTheFirstErrorToTheNewItem) {
  constexpr int kCount = 100;
  MakeDamagedTable(kCount);
  if (HasFatalFailure()) return;
  const CommandResult failed = Itemctl({"scan", "Parts"});
  EXPECT_NE(failed.exit_code, 0);
  EXPECT_THAT(failed.err, HasSubstr("checksum"));
  for (const std::vector<std::string>& command : {std::vector<std::string>{"count", "Parts"},
                                                  {"scan", "Parts", "--segments", "2"},
                                                  {"partiql", "SELECT * FROM Parts"}}) {
    const CommandResult refused = Itemctl(command);
    EXPECT_NE(refused.exit_code, 0) << command[0];
    EXPECT_THAT(refused.err, HasSubstr("'itemctl damage list'")) << command[0];
  }

  const CommandResult skipped = Itemctl({"-o", "jsonl", "scan", "Parts", "--skip-damage"});
  EXPECT_NE(skipped.exit_code, 0) << "a program that looks at the exit code takes this for everything";
  EXPECT_THAT(skipped.err, HasSubstr("skipped damage: between {\"id\": "));
  std::set<std::string> there;
  for (const Json& item : ParseLines(skipped.out)) {
    if (item.contains("id")) there.insert(item["id"]);
  }
  EXPECT_LT(there.size(), static_cast<size_t>(kCount));
  EXPECT_GE(there.size(), static_cast<size_t>(kCount - 10));
  std::string lost;
  for (int i = 100; i < 100 + kCount && lost.empty(); ++i) {
    if (!there.contains(std::to_string(i))) lost = std::to_string(i);
  }
  const std::string key = R"({"id": ")" + lost + R"("})";
  const CommandResult counted = Itemctl({"-o", "json", "count", "Parts", "--skip-damage"});
  EXPECT_NE(counted.exit_code, 0);
  EXPECT_THAT(counted.err, HasSubstr("skipped damage: between {\"id\": "));
  EXPECT_EQ(Json::parse(counted.out, nullptr, false)["Count"], there.size()) << counted.out;

  EXPECT_THAT(Itemctl({"-o", "table", "status"}).out, HasSubstr("1 file, 1 block"));
  const Json list = Document({"-o", "jsonl", "damage", "list"});
  ASSERT_EQ(list["files"].size(), 1u) << list;
  EXPECT_EQ(list["files"][0]["file"], file_);
  EXPECT_EQ(list["files"][0]["owner"], "table Parts");
  EXPECT_LT(list["files"][0]["ranges"][0]["after_key"]["id"]["S"].get<std::string>(), lost);
  EXPECT_GT(list["files"][0]["ranges"][0]["before_key"]["id"]["S"].get<std::string>(), lost);

  const CommandResult refused = Itemctl({"item", "put", "Parts", key});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_EQ(Itemctl({"damage", "discard", "--table", "Parts", "--key", key, "--yes"}).exit_code, 0);
  EXPECT_EQ(Itemctl({"item", "put", "Parts", key}).exit_code, 0);
  EXPECT_EQ(Itemctl({"item", "get", "Parts", key}).exit_code, 0);
  EXPECT_THAT(testing::ReadFile(audit_), HasSubstr("DiscardDamagedItem"));
  EXPECT_THAT(daemon_.log(), HasSubstr("a damaged item was discarded"));
}

}  // namespace
}  // namespace itemdb::e2e
