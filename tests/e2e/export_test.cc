// Exports of a running itemd: by itemctl, read by a Python program that knows only the layout, also through
// kill -9.
//
// ITEMDB_KILL9_CYCLES sets the number of kills (default 50; 6 in sanitizer builds, which are slower).
// ITEMDB_TEST_SEED repeats the random choices of a run, but not its timing.
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "itemdb/bulk_writer.h"
#include "tests/e2e/changed_export.h"
#include "tests/e2e/e2e_fixture.h"
#include "tests/support/files.h"
#include "tests/support/kills.h"
#include "tests/support/paths.h"
#include "tests/support/repetitions.h"

namespace itemdb::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr int kExportedItems = testing::kHasSanitizer ? 3'000 : 20'000;
constexpr char kExportedArn[] = "arn:aws:dynamodb:local:000000000000:table/Things";

class ExportE2e : public E2eTest {
 protected:
  void SetUp() override {
    // The same address after each start.
    daemon_.set_listen({"unix:" + directory_.path() + "/s"});
    E2eTest::SetUp();
    fs::create_directories(bucket_);
    Client client = OpenClient();
    ASSERT_TRUE(client
                    .CreateTable({.table_name = "Things",
                                  .attribute_definitions = {{"pk", ScalarAttributeType::kString},
                                                            {"sk", ScalarAttributeType::kNumber}},
                                  .key_schema = {{"pk", KeyType::kHash}, {"sk", KeyType::kRange}}})
                    .ok());
    ASSERT_EQ(Itemctl({"pitr", "enable", "Things"}).exit_code, 0);
    BulkWriter writer(client);
    for (int i = 0; i < kExportedItems; ++i) {
      ASSERT_TRUE(writer
                      .Put("Things", Item{{"pk", "p" + std::to_string(i % 97)},
                                          {"sk", Number(int64_t{i})},
                                          {"text", std::string(100, static_cast<char>('a' + i % 26))}})
                      .ok());
    }
    ASSERT_TRUE(writer.Finish().ok());
  }

  // What the reader says about a whole export. `being_ended`: itemdb's own manifest may not be there yet.
  Json Read(const std::string& manifest, bool being_ended = false) const {
    std::vector<std::string> arguments = {testing::SourcePath("tests/exports/read_export.py"), bucket_,
                                          manifest};
    if (being_ended) arguments.push_back("--being-ended");
    const CommandResult read = RunProgram("/usr/bin/python3", arguments);
    EXPECT_EQ(read.exit_code, 0) << read.err;
    return read.exit_code == 0 ? Json::parse(read.out) : Json();
  }
  // The items of the table by their keys, in DynamoDB's JSON.
  std::map<std::string, Json> Scanned() const {
    std::map<std::string, Json> items;
    for (const Json& item : Lines({"-o", "jsonl", "scan", "Things", "--typed"})) items[KeyOf(item)] = item;
    return items;
  }
  static std::string KeyOf(const Json& item) { return item["pk"].dump() + item["sk"].dump(); }

  const std::string bucket_ = daemon_.data_directory() + "/exports/bucket";
};

TEST_F(ExportE2e, TheReaderFindsTheItemsThatWerePut) {
  const std::map<std::string, Json> items = Scanned();
  ASSERT_EQ(items.size(), static_cast<size_t>(kExportedItems));
  const Json made =
      Document({"-o", "jsonl", "export", "start", "Things", "bucket", "--prefix", "some/where", "--wait"});
  EXPECT_EQ(made["ExportStatus"], "COMPLETED");
  EXPECT_EQ(made["ItemCount"], kExportedItems);
  EXPECT_EQ(made["ChangeSequence"], ChangeSequence());
  const Json read = Read(made["ExportManifest"]);
  EXPECT_EQ(read["summary"]["exportArn"], made["ExportArn"]);
  EXPECT_EQ(read["summary"]["tableArn"], kExportedArn);
  std::map<std::string, Json> exported;
  for (const Json& item : read["items"]) exported[KeyOf(item)] = item;
  EXPECT_EQ(exported, items);

  // An empty table has four empty files.
  ASSERT_EQ(Itemctl({"table", "delete", "Things", "--yes"}).exit_code, 0);
  EXPECT_EQ(Document({"-o", "jsonl", "export", "describe", made["ExportArn"]}), made);
  EXPECT_EQ(Document({"-o", "jsonl", "export", "list"})["Exports"].size(), 1u);
}

// So the other tests can rely on the reader.
TEST_F(ExportE2e, TheReaderFindsEachDamagedOrMissingFile) {
  const Json made = Document({"-o", "jsonl", "export", "start", "Things", "bucket", "--wait"});
  const auto is_whole = [&] {
    return RunProgram("/usr/bin/python3", {testing::SourcePath("tests/exports/read_export.py"), bucket_,
                                           made["ExportManifest"].get<std::string>()})
               .exit_code == 0;
  };
  ASSERT_TRUE(is_whole());
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(bucket_))
    if (entry.is_regular_file()) files.push_back(entry.path());
  EXPECT_EQ(files.size(), 10u);
  for (const fs::path& file : files) {
    const std::string content = testing::ReadFile(file);
    testing::WriteFile(file, content + "x");
    EXPECT_FALSE(is_whole()) << file;
    fs::remove(file);
    EXPECT_FALSE(is_whole()) << file;
    testing::WriteFile(file, content);
  }
  EXPECT_TRUE(is_whole());
}

// IMP-15.
TEST_F(ExportE2e, ChangedFilesAreNeitherImportedNorPut) {
  const std::map<std::string, Json> items = Scanned();
  const Json made = Document({"-o", "jsonl", "export", "start", "Things", "bucket", "--wait"});
  const std::string manifest = made["ExportManifest"];
  const std::string data = manifest.substr(0, manifest.rfind('/')) + "/data/";
  ChangeExportedItems(bucket_ + "/" + data);
  ExpectChangedExportIsRefused([&](auto arguments) { return Itemctl(arguments); }, directory_.path(), data);
  EXPECT_TRUE(Scanned() == items);
  ExpectCheckIsClean();
}

// All types, and names and texts that need quotes or escapes (XPT-43, XPT-46).
TEST_F(ExportE2e, LinesHaveTheFormsOfTheService) {
  constexpr char kItem[] =
      R"({"pk":{"S":"all"},"sk":{"N":"600"},"B":{"B":"/wA="},"BS":{"BS":["AA==","AQ=="]},)"
      R"("L":{"L":[{"N":"-8.50"},{"NULL":true}]},"M":{"M":{"a b":{"BOOL":true},"c'd":{"N":"0"}}},)"
      R"("NS":{"NS":["3","1"]},"S":{"S":"q\"uo\\te\né"},"SS":{"SS":["b","a"]},)"
      R"("null":{"BOOL":false}})";
  const CommandResult put = Itemctl({"item", "put", "Things", kItem});
  ASSERT_EQ(put.exit_code, 0) << put.err;
  const auto line_of = [&](const std::vector<std::string>& options, const std::string& text) -> std::string {
    std::vector<std::string> arguments = {"-o", "jsonl", "export", "start", "Things", "bucket", "--wait"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Json made = Document(arguments);
    std::string found;
    const Json read = Read(made["ExportManifest"]);
    for (const Json& line : read["lines"])
      if (line.get<std::string>().find(text) != std::string::npos) found = line;
    return found;
  };
  EXPECT_EQ(
      line_of({}, R"({"S":"all"})"),
      R"({"Item":{"pk":{"S":"all"},"sk":{"N":"600"},"B":{"B":"/wA="},"BS":{"BS":["AA==","AQ=="]},)"
      R"("L":{"L":[{"N":"-8.5"},{"NULL":true}]},"M":{"M":{"a b":{"BOOL":true},"c'd":{"N":"0"}}},)"
      R"("NS":{"NS":["1","3"]},"S":{"S":"q\"uo\\te\né"},"SS":{"SS":["a","b"]},"null":{"BOOL":false}}})");
  EXPECT_EQ(
      line_of({"--ion"}, R"(pk:"all")"),
      R"($ion_1_0 {Item:{pk:"all",sk:6d2,B:{{/wA=}},BS:$dynamodb_BS::[{{AA==}},{{AQ==}}],L:[-8.5,null],)"
      R"(M:{'a b':true,'c\'d':0.},NS:$dynamodb_NS::[1.,3.],S:"q\"uo\\te\né",)"
      R"(SS:$dynamodb_SS::["a","b"],'null':false}})");
}

// XPT-07, XPT-48: at any moment of an export. After the next start it is made again and COMPLETED, and until
// then there is no summary without all files.
TEST_F(ExportE2e, Kill9LeavesAWholeExportOrNoSummary) {
  const uint64_t seed = KillSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  Random random(seed);
  Client client = OpenClient();
  const auto export_once = [&]() -> ExportDescription {
    auto begun = client.ExportTableToPointInTime({.table_arn = kExportedArn, .s3_bucket = "bucket"});
    EXPECT_TRUE(begun.ok()) << begun.status();
    return begun.ok() ? *begun : ExportDescription();
  };
  const auto await = [&](const std::string& arn) {
    for (int i = 0; i < 60'000; ++i) {
      const auto described = client.DescribeExport(arn);
      EXPECT_TRUE(described.ok()) << described.status();
      if (!described.ok() || described->export_status != ExportStatus::kInProgress)
        return described.value_or(ExportDescription());
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ADD_FAILURE() << arn << " stays IN_PROGRESS";
    return ExportDescription();
  };
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(await(export_once().export_arn).export_status, ExportStatus::kCompleted);
  const int64_t whole_us =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin).count();
  KilledRounds rounds("an export");
  for (int cycle = 0; cycle < Kills(); ++cycle) {
    SCOPED_TRACE("cycle " + std::to_string(cycle));
    const ExportDescription begun = export_once();
    std::this_thread::sleep_for(std::chrono::microseconds(Pick(random, 0, whole_us)));
    daemon_.Kill();
    const std::string id = begun.export_arn.substr(begun.export_arn.rfind('/') + 1);
    const std::string manifest = "AWSDynamoDB/" + id + "/manifest-summary.json";
    const bool has_own = fs::exists(bucket_ + "/AWSDynamoDB/" + id + "/itemdb-manifest.json");
    if (has_own) Read(manifest);
    const bool has_summary = fs::exists(bucket_ + "/" + manifest);
    // Programs of others know only the summary.
    if (has_summary && !has_own) Read(manifest, /*being_ended=*/true);
    const absl::Status started = daemon_.Start();
    ASSERT_TRUE(started.ok()) << started;
    const auto after = client.DescribeExport(begun.export_arn);
    ASSERT_TRUE(after.ok()) << after.status();
    const ExportDescription ended = await(begun.export_arn);
    ASSERT_EQ(ended.export_status, ExportStatus::kCompleted) << ended.failure_message;
    EXPECT_EQ(ended.item_count, kExportedItems);
    EXPECT_EQ(ended.change_sequence, begun.change_sequence);
    EXPECT_EQ(Read(ended.export_manifest)["items"].size(), static_cast<size_t>(kExportedItems));
    fs::remove_all(bucket_ + "/AWSDynamoDB");
    rounds.Add(
        {.was_interrupted = after->export_status == ExportStatus::kInProgress, .is_whole = has_summary});
  }
  ExpectCheckIsClean();
}

}  // namespace
}  // namespace itemdb::e2e
