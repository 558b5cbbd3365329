// `itemctl export table` and `import table`: files and their errors. That both go on after kill -9 is tested
// in tests/e2e/table_files_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/processes/child_process.h"
#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/real_daemon.h"

namespace itemdb::tools {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

// Items whose types JSON and CSV keep or lose.
constexpr char kItemsOfAllTypes[] =
    R"({"TableName": "types", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}, {"AttributeName": "at", "KeyType": "RANGE"}], "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}, {"AttributeName": "at", "AttributeType": "N"}, {"AttributeName": "state", "AttributeType": "S"}], "GlobalSecondaryIndexes": [{"IndexName": "ByState", "KeySchema": [{"AttributeName": "state", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}]})";

class TableFilesTest : public ::testing::Test {
 protected:
  TableFilesTest() {
    testing::WriteFile(File("types.json"), kItemsOfAllTypes);
    EXPECT_EQ(daemon_.Call({"table", "create", "-f", File("types.json")}).exit_code, 0);
  }

  std::string File(const std::string& name) const { return directory_.path() + "/" + name; }
  void Put(const std::string& item) {
    const Outcome put = daemon_.Call({"item", "put", "types", item});
    ASSERT_EQ(put.exit_code, 0) << put.err;
  }
  void PutItemsOfAllTypes() {
    Put(R"({"id": {"S": "a, \"b\"\nc"}, "at": {"N": "1"}, "price": {"N": "25.50"}, "raw": {"B": "AP8="}, "on": {"BOOL": true}, "state": {"S": "x"}})");
    Put(R"({"id": {"S": "ü"}, "at": {"N": "-1e-5"}, "list": {"L": [{"N": "1"}, {"NULL": true}]}, "tags": {"SS": ["b", "a"]}, "price": {"N": "3"}})");
    Put(R"({"id": {"S": "z"}, "at": {"N": "2"}, "mixed": {"N": "7"}, "on": {"BOOL": false}})");
    Put(R"({"id": {"S": "z"}, "at": {"N": "3"}, "mixed": {"S": "seven"}})");
  }
  Outcome Export(const std::string& folder, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"-o", "jsonl", "export", "table", "types", File(folder)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return daemon_.Call(arguments);
  }
  Outcome Import(const std::string& table, const std::string& folder,
                 std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"-o", "jsonl", "import", "table", table, File(folder)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return daemon_.Call(arguments);
  }
  std::string Scan(const std::string& table) const {
    return daemon_.Call({"-o", "jsonl", "scan", table, "--typed"}).out;
  }
  nlohmann::json ManifestOf(const std::string& folder) const {
    return nlohmann::json::parse(testing::ReadFile(File(folder) + "/itemdb-manifest.json"));
  }
  // Nothing was made or changed by a refused import.
  void ExpectRefused(const Outcome& outcome, const std::string& message) const {
    EXPECT_NE(outcome.exit_code, 0) << outcome.out;
    EXPECT_THAT(outcome.err, HasSubstr(message));
    EXPECT_THAT(daemon_.Call({"table", "list"}).out, Not(HasSubstr("copy")));
  }

  testing::TemporaryDirectory directory_;
  RealDaemon daemon_;
};

TEST_F(TableFilesTest, DynamoDbJsonKeepsEverythingInEachCompression) {
  PutItemsOfAllTypes();
  int number = 0;
  for (const std::string compression : {"GZIP", "ZSTD", "NONE"}) {
    SCOPED_TRACE(compression);
    const std::string folder = "files" + compression;
    const Outcome exported = Export(folder, {"--compression", compression, "--items-per-file", "3"});
    ASSERT_EQ(exported.exit_code, 0) << exported.err;
    EXPECT_THAT(exported.out, HasSubstr(R"("items": 4, "files": 2, )"));
    EXPECT_THAT(exported.out, HasSubstr(R"("one_state": true)"));
    const nlohmann::json manifest = ManifestOf(folder);
    EXPECT_EQ(manifest["version"], 1);
    EXPECT_EQ(manifest["itemCount"], 4);
    EXPECT_EQ(manifest["oneState"], true);
    EXPECT_EQ(manifest["changeSequence"], manifest["lastChangeSequence"]) << "nobody wrote meanwhile";
    EXPECT_EQ(manifest["table"]["TableName"], "types");
    EXPECT_FALSE(fs::exists(File(folder) + "/itemdb-export.json"));

    const std::string copy = "types_copy" + std::to_string(number++);
    const Outcome imported = Import(copy, folder, {"--create"});
    ASSERT_EQ(imported.exit_code, 0) << imported.err;
    EXPECT_THAT(imported.out, HasSubstr(R"("items": 4, "left_out_lines": 0, "files": 2)"));
    EXPECT_EQ(Scan(copy), Scan("types"));
    EXPECT_THAT(daemon_
                    .Call({"query", copy, "--index", "ByState", "--key-condition", "#s = :s", "--names",
                           R"({"#s": "state"})", "--values", R"({":s": "x"})"})
                    .out,
                HasSubstr("25.5"))
        << "the index was made too";
    // Into a table that exists.
    EXPECT_EQ(daemon_.Call({"item", "delete", copy, R"({"id": "z", "at": 2})"}).exit_code, 0);
    ASSERT_EQ(Import(copy, folder).exit_code, 0);
    EXPECT_EQ(Scan(copy), Scan("types"));
    EXPECT_FALSE(fs::exists(File(folder) + "/itemdb-import-" + copy + ".json"));
  }
  EXPECT_EQ(testing::ReadFile(File("filesNONE") + "/data/00000001.json").substr(0, 9), R"({"Item":{)");
}

// Other programs read the lines: those of the formats are not ours to change.
TEST_F(TableFilesTest, PlainJsonAndCsvAreForOtherPrograms) {
  PutItemsOfAllTypes();
  ASSERT_EQ(Export("json", {"--format", "JSON", "--compression", "NONE"}).exit_code, 0);
  EXPECT_THAT(testing::ReadFile(File("json") + "/data/00000001.jsonl"),
              HasSubstr("{\"at\": 2, \"id\": \"z\", \"mixed\": 7, \"on\": false}\n"));
  ASSERT_EQ(Import("types_json", "json", {"--create"}).exit_code, 0);
  EXPECT_THAT(Scan("types_json"), HasSubstr(R"("raw": {"S": "AP8="})")) << "JSON has no binary values";
  EXPECT_THAT(Scan("types_json"), HasSubstr(R"("tags": {"L": )")) << "and no sets";

  ASSERT_EQ(Export("csv", {"--format", "CSV", "--compression", "NONE"}).exit_code, 0);
  const std::string csv = testing::ReadFile(File("csv") + "/data/00000001.csv");
  EXPECT_EQ(csv.substr(0, csv.find('\n')), "id,at,list,mixed,on,price,raw,state,tags");
  EXPECT_THAT(csv, HasSubstr("\"a, \"\"b\"\"\nc\",1,,,true,25.5,AP8=,x,\n"));
  EXPECT_EQ(ManifestOf("csv")["columns"]["price"], "N");
  EXPECT_EQ(ManifestOf("csv")["columns"]["mixed"], "S");
  ASSERT_EQ(Import("types_csv", "csv", {"--create"}).exit_code, 0);
  const std::string read = Scan("types_csv");
  EXPECT_THAT(read, HasSubstr(R"("raw": {"B": "AP8="})"));
  EXPECT_THAT(read, HasSubstr(R"("price": {"N": "25.5"})"));
  EXPECT_THAT(read, HasSubstr(R"("on": {"BOOL": true})"));
  EXPECT_THAT(read, HasSubstr(R"("mixed": {"S": "7"})")) << "the column has text too";
  EXPECT_THAT(read, HasSubstr(R"({"at": {"N": "3"}, "id": {"S": "z"}, "mixed": {"S": "seven"}})"))
      << "an empty cell is no attribute\n"
      << read;

  ASSERT_EQ(
      Export("columns", {"--format", "CSV", "--compression", "NONE", "--columns", "price,id"}).exit_code, 0);
  EXPECT_THAT(testing::ReadFile(File("columns") + "/data/00000001.csv"), HasSubstr("price,id\n"));
  EXPECT_EQ(Export("no", {"--columns", "id"}).exit_code, 2) << "only CSV has columns";
}

TEST_F(TableFilesTest, OverHttpPagesAreOfSeveralStates) {
  testing::TemporaryDirectory directory;
  e2e::DaemonProcess other(directory.path());
  ASSERT_TRUE(other.Start({"--http-listen", "127.0.0.1:0"}).ok());
  const std::string url = "http://" + other.http_endpoint();
  PutItemsOfAllTypes();
  ASSERT_EQ(Export("files").exit_code, 0);
  const auto call = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--endpoint", url, "-o", "jsonl"});
    return RunTool(arguments);
  };
  const Outcome imported = call({"import", "table", "types", File("files"), "--create"});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_EQ(call({"scan", "types", "--typed"}).out, Scan("types"));
  const Outcome exported = call({"export", "table", "types", File("http")});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_THAT(exported.out, HasSubstr(R"("items": 4, "files": 1, )"));
  EXPECT_THAT(exported.out, HasSubstr(R"("one_state": false})")) << "the protocol tells no change sequence";
  ASSERT_EQ(Import("types_again", "http", {"--create"}).exit_code, 0);
  EXPECT_EQ(Scan("types_again"), Scan("types"));
  EXPECT_NE(call({"export", "table", "types", File("http2"), "--one-state"}).exit_code, 0);
}

TEST_F(TableFilesTest, ExportOverwritesNothing) {
  PutItemsOfAllTypes();
  fs::create_directory(File("foreign"));
  testing::WriteFile(File("foreign") + "/letter.txt", "dear");
  const Outcome foreign = Export("foreign");
  EXPECT_EQ(foreign.exit_code, 1);
  EXPECT_THAT(foreign.err, HasSubstr("is not empty"));
  EXPECT_EQ(std::distance(fs::directory_iterator(File("foreign")), fs::directory_iterator()), 1);

  ASSERT_EQ(Export("files").exit_code, 0);
  const std::string before = testing::ReadFile(File("files") + "/itemdb-manifest.json");
  EXPECT_THAT(Export("files").err, HasSubstr("has an export already"));
  EXPECT_EQ(testing::ReadFile(File("files") + "/itemdb-manifest.json"), before);

  testing::WriteFile(File("plain"), "");
  EXPECT_EQ(Export("plain").exit_code, 1);
  EXPECT_EQ(daemon_.Call({"export", "table", "nothing", File("none")}).exit_code, 3);
}

TEST_F(TableFilesTest, RefusedImportsChangeNothing) {
  PutItemsOfAllTypes();
  ASSERT_EQ(Export("files", {"--items-per-file", "3"}).exit_code, 0);
  const std::string manifest = testing::ReadFile(File("files") + "/itemdb-manifest.json");
  const std::string first = File("files") + "/data/00000001.json.gz";
  const std::string data = testing::ReadFile(first);

  ExpectRefused(Import("copy", "nowhere", {"--create"}), "cannot open the folder");
  fs::create_directory(File("empty"));
  ExpectRefused(Import("copy", "empty", {"--create"}), "has no whole export");
  testing::WriteFile(File("empty") + "/itemdb-export.json", "{}");
  ExpectRefused(Import("copy", "empty", {"--create"}), "was interrupted and is not whole");
  std::string flipped = data;
  flipped[flipped.size() / 2] ^= 1;
  testing::WriteFile(first, flipped);
  ExpectRefused(Import("copy", "files", {"--create"}), "00000001.json.gz is damaged");
  testing::WriteFile(first, data + "x");
  ExpectRefused(Import("copy", "files", {"--create"}), "bytes instead of");
  fs::remove(first);
  ExpectRefused(Import("copy", "files", {"--create"}), "00000001.json.gz is missing");
  testing::WriteFile(first, data);
  nlohmann::json changed = nlohmann::json::parse(manifest);
  changed["version"] = 2;
  testing::WriteFile(File("files") + "/itemdb-manifest.json", changed.dump());
  ExpectRefused(Import("copy", "files", {"--create"}), "it has version 2; this itemctl reads version 1");
  changed["version"] = 1;
  changed["files"][0]["key"] = "../../secret";
  testing::WriteFile(File("files") + "/itemdb-manifest.json", changed.dump());
  ExpectRefused(Import("copy", "files", {"--create"}), "../../secret is not in its folder");
  testing::WriteFile(File("files") + "/itemdb-manifest.json", manifest.substr(0, manifest.size() / 2));
  ExpectRefused(Import("copy", "files", {"--create"}), "it is no JSON");
  testing::WriteFile(File("files") + "/itemdb-manifest.json", manifest);
  ExpectRefused(Import("copy", "files"), "copy");
  ExpectRefused(Import("types", "files", {"--create"}), "there is a table types already");
  ExpectRefused(Import("music", "files"), "has another key schema");
  EXPECT_FALSE(fs::exists(File("files") + "/itemdb-import-music.json"));
  ASSERT_EQ(Import("copy", "files", {"--create"}).exit_code, 0);
}

// Lines with errors are listed, and the others are put.
TEST_F(TableFilesTest, FilesOfOtherProgramsMayHaveBadLines) {
  fs::create_directory(File("others"));
  testing::WriteFile(File("others") + "/b.jsonl",
                     "{\"id\": \"a\", \"at\": 1}\n\nnonsense\n{\"at\": 2}\n{\"id\": \"a\", \"at\": 2}");
  testing::WriteFile(File("others") + "/a.json", "{\"id\": \"a\", \"at\": 1, \"old\": true}\r\n");
  testing::WriteFile(File("others") + "/c.csv", "id,at,state\n\"x\"\"y\",7,new\nx,seven,\nq\n");
  const Outcome json = Import("types", "others", {"--format", "JSON"});
  EXPECT_EQ(json.exit_code, 1);
  EXPECT_THAT(json.out, HasSubstr(R"("items": 3, "left_out_lines": 2, "files": 2)"));
  const std::string report = File("others") + "/itemdb-import-types-errors.jsonl";
  EXPECT_THAT(json.err, HasSubstr("2 lines were left out; " + report + " lists them"));
  const std::string listed = testing::ReadFile(report);
  EXPECT_THAT(listed, HasSubstr(R"({"file": "b.jsonl", "line": 3, "reason": )"));
  EXPECT_THAT(listed, HasSubstr(R"({"file": "b.jsonl", "line": 4, "reason": )"));
  EXPECT_THAT(Scan("types"), Not(HasSubstr("old"))) << "of equal keys the last one counts";

  const Outcome csv = Import("types", "others", {"--format", "CSV"});
  EXPECT_EQ(csv.exit_code, 1);
  EXPECT_THAT(csv.out, HasSubstr(R"("items": 1, "left_out_lines": 2, "files": 1)"));
  EXPECT_THAT(testing::ReadFile(report), Not(HasSubstr("b.jsonl"))) << "the report is of the last import";
  EXPECT_THAT(testing::ReadFile(report), HasSubstr("column at: "));
  EXPECT_THAT(testing::ReadFile(report), HasSubstr("the line has 1 cells, but there are 3 columns"));
  EXPECT_THAT(Scan("types"), HasSubstr(R"({"at": {"N": "7"}, "id": {"S": "x\"y"}, "state": {"S": "new"}})"));

  EXPECT_THAT(Import("types", "others", {"--format", "DYNAMODB_JSON"}).out,
              HasSubstr(R"("items": 0, "left_out_lines": 5)"));
  EXPECT_EQ(Import("copy", "others", {"--format", "CSV", "--create"}).exit_code, 2);
  testing::WriteFile(File("others") + "/c.csv.gz", "not gzip");
  EXPECT_THAT(Import("types", "others", {"--format", "CSV"}).out, HasSubstr(R"("left_out_lines": 3)"));
  EXPECT_THAT(testing::ReadFile(report), HasSubstr("the rest of the file is left out"));
}

}  // namespace
}  // namespace itemdb::tools
