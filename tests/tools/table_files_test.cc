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
#include "tools/files/data_file.h"

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
  // The state of an export of "types" that has written nothing yet, made from the manifest of one that is
  // whole.
  std::string ExportStateOf(const std::string& folder, const std::string& format) const {
    nlohmann::json manifest = ManifestOf(folder);
    manifest["files"] = nlohmann::json::array();
    // The order of the members counts.
    return R"({"version": 1, "export": {"table": "types", "tableId": )" +
           manifest["table"]["TableId"].dump() + R"(, "databaseId": )" + manifest["databaseId"].dump() +
           R"(, "format": ")" + format + R"(", "compression": "GZIP", "columns": ""}, "manifest": )" +
           manifest.dump() + "}";
  }
  void CreateTableOf(const std::string& document) const {
    testing::WriteFile(File("other.json"), document);
    const Outcome created = daemon_.Call({"table", "create", "-f", File("other.json")});
    ASSERT_EQ(created.exit_code, 0) << created.err;
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

// What text may have in it comes back from every format that keeps its type.
TEST_F(TableFilesTest, AwkwardValuesComeBack) {
  const std::string number(38, '7');
  Put(R"({"id": {"S": "\r"}, "at": {"N": ")" + number + R"("}, "text": {"S": "a\r\nb\r"}})");
  Put(R"({"id": {"S": "control \u0001 \t \u001f \u007f"}, "at": {"N": "-0.)" + number +
      R"("}, "text": {"S": " , \" \\ "}, "raw": {"B": "AA=="}})");
  ASSERT_EQ(Export("csv", {"--format", "CSV"}).exit_code, 0);
  ASSERT_EQ(Import("types_csv", "csv", {"--create"}).exit_code, 0);
  EXPECT_EQ(Scan("types_csv"), Scan("types"));
  Put(R"({"id": {"S": "empty"}, "at": {"N": "1"}, "text": {"S": ""}, "raw": {"B": ""}, "none": {"M": {}}, "list": {"L": []}})");
  Put(R"({"id": {"S": "sets"}, "at": {"N": "1"}, "ns": {"NS": ["1", ")" + number +
      R"("]}, "ss": {"SS": ["", "\r"]}, "bs": {"BS": ["", "AP8="]}, "nested": {"L": [{"M": {"k": {"NULL": true}}}]}})");
  ASSERT_EQ(Export("typed").exit_code, 0);
  ASSERT_EQ(Import("types_typed", "typed", {"--create"}).exit_code, 0);
  EXPECT_EQ(Scan("types_typed"), Scan("types"));
  ASSERT_EQ(Export("json", {"--format", "JSON"}).exit_code, 0);
  ASSERT_EQ(Import("types_json", "json", {"--create"}).exit_code, 0);
  EXPECT_THAT(Scan("types_json"), HasSubstr(number));
  EXPECT_THAT(Scan("types_json"), HasSubstr(R"(a\r\nb\r)"));

  CreateTableOf(
      R"({"TableName": "names", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}], "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}]})");
  ASSERT_EQ(daemon_.Call({"item", "put", "names", R"({"id": "  "})"}).exit_code, 0);
  ASSERT_EQ(daemon_.Call({"export", "table", "names", File("names"), "--format", "CSV"}).exit_code, 0);
  ASSERT_EQ(Import("names_copy", "names", {"--create"}).exit_code, 0);
  EXPECT_EQ(Scan("names_copy"), Scan("names")) << "spaces are a key, and no blank line";
}

TEST_F(TableFilesTest, VectorIndexesAreMadeToo) {
  CreateTableOf(
      R"({"TableName": "notes", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}], "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}], "VectorIndexes": [{"IndexName": "ByMeaning", "VectorAttribute": {"AttributeName": "meaning"}, "Dimensions": 2, "DistanceFunction": "COSINE", "Projection": {"ProjectionType": "ALL"}}]})");
  ASSERT_EQ(daemon_.Call({"item", "put", "notes", R"({"id": "a", "meaning": [1, 0.5]})"}).exit_code, 0);
  const Outcome exported = daemon_.Call({"export", "table", "notes", File("notes")});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  const Outcome imported = Import("notes_copy", "notes", {"--create"});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_EQ(Scan("notes_copy"), Scan("notes"));
  EXPECT_THAT(daemon_.Call({"-o", "jsonl", "table", "describe", "notes_copy"}).out, HasSubstr("ByMeaning"));
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

// The folder and the state may be there, and what an attempt before left.
TEST_F(TableFilesTest, ExportGoesOnOnlyWithItsOwnState) {
  PutItemsOfAllTypes();
  // An export that failed at once.
  fs::create_directories(File("early") + "/data");
  testing::WriteFile(File("early") + "/itemdb-export.json.new", "{");
  const Outcome early = Export("early");
  EXPECT_EQ(early.exit_code, 0) << early.err;

  ASSERT_EQ(Export("files").exit_code, 0);
  const std::string state = File("files") + "/itemdb-export.json";
  testing::WriteFile(state, ExportStateOf("files", "JSON"));
  const Outcome other = Export("files");
  EXPECT_NE(other.exit_code, 0) << "the whole export is not the one that was asked for";
  EXPECT_THAT(other.err, HasSubstr("is of another export"));
  testing::WriteFile(state, ExportStateOf("files", "DYNAMODB_JSON"));
  const Outcome whole = Export("files");
  EXPECT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_FALSE(fs::exists(state));

  // Data files of an attempt before, which the daemon would import too.
  testing::WriteFile(state, ExportStateOf("files", "DYNAMODB_JSON"));
  fs::remove(File("files") + "/itemdb-manifest.json");
  testing::WriteFile(File("files") + "/data/00000007.json.gz", "old");
  testing::WriteFile(File("files") + "/data/00000008.json.gz.partial", "old");
  const Outcome again = Export("files");
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(std::distance(fs::directory_iterator(File("files") + "/data"), fs::directory_iterator()), 1);

  EXPECT_EQ(Export("no", {"--format", "CSV", "--columns", "id,,at"}).exit_code, 2);
  EXPECT_EQ(Export("no", {"--format", "CSV", "--columns", "id,at,id"}).exit_code, 2);
  EXPECT_FALSE(fs::exists(File("no")));
  const Outcome by_arn =
      daemon_.Call({"export", "table", "arn:aws:dynamodb:local:000000000000:table/types", File("by_arn")});
  EXPECT_EQ(by_arn.exit_code, 0) << by_arn.err;
  const Outcome into_arn = Import("arn:aws:dynamodb:local:000000000000:table/types", "by_arn");
  EXPECT_EQ(into_arn.exit_code, 0) << into_arn.err;
}

// A table that somebody else made is not filled by an import that was to make its own.
TEST_F(TableFilesTest, ImportFillsOnlyTheTableThatItMade) {
  PutItemsOfAllTypes();
  ASSERT_EQ(Export("files").exit_code, 0);
  const std::string path = File("files") + "/itemdb-manifest.json";
  const std::string manifest = testing::ReadFile(path);
  nlohmann::json refused = nlohmann::json::parse(manifest);
  refused["table"]["AttributeDefinitions"].push_back({{"AttributeName", "unused"}, {"AttributeType", "S"}});
  testing::WriteFile(path, refused.dump());
  ExpectRefused(Import("copy", "files", {"--create"}), "");
  testing::WriteFile(path, manifest);
  CreateTableOf(
      R"({"TableName": "copy", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}, {"AttributeName": "at", "KeyType": "RANGE"}], "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}, {"AttributeName": "at", "AttributeType": "N"}]})");
  const Outcome foreign = Import("copy", "files", {"--create"});
  EXPECT_NE(foreign.exit_code, 0) << foreign.out;
  EXPECT_THAT(foreign.err, HasSubstr("there is a table copy already"));
  EXPECT_EQ(Scan("copy"), "");

  // An attempt that was killed while it made the table: one that is older is not its own.
  Sha256 source;
  const nlohmann::json file = ManifestOf("files")["files"][0];
  source.Add("DYNAMODB_JSON\n" + file["key"].get<std::string>() + "\n" + file["sha256"].get<std::string>() +
             "\n");
  nlohmann::json state = {{"version", 1},      {"source", source.Finish()},
                          {"tableId", ""},     {"databaseId", "x"},
                          {"beginSeconds", 0}, {"file", 0},
                          {"line", 1},         {"putItems", 0},
                          {"leftOutLines", 0}, {"reportBytes", 0}};
  const std::string state_path = File("files") + "/itemdb-import-copy.json";
  testing::WriteFile(state_path, state.dump());
  EXPECT_THAT(Import("copy", "files", {"--create"}).err, HasSubstr("into another database"));
  state["databaseId"] = ManifestOf("files")["databaseId"];
  state["beginSeconds"] = int64_t{1} << 40;
  testing::WriteFile(state_path, state.dump());
  EXPECT_THAT(Import("copy", "files", {"--create"}).err, HasSubstr("there is a table copy already"));
  EXPECT_FALSE(fs::exists(state_path));
  EXPECT_EQ(Scan("copy"), "");
  state["beginSeconds"] = 0;
  testing::WriteFile(state_path, state.dump());
  const Outcome resumed = Import("copy", "files", {"--create"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(Scan("copy"), Scan("types"));
}

// The sizes and checksums fit, but the file has fewer items than were written.
TEST_F(TableFilesTest, ImportCountsTheItemsOfEachFile) {
  PutItemsOfAllTypes();
  ASSERT_EQ(Export("files").exit_code, 0);
  nlohmann::json changed = ManifestOf("files");
  changed["files"][0]["items"] = 5;
  testing::WriteFile(File("files") + "/itemdb-manifest.json", changed.dump());
  const Outcome imported = Import("types_copy", "files", {"--create"});
  EXPECT_NE(imported.exit_code, 0) << imported.out;
  EXPECT_THAT(imported.err, HasSubstr("has 4 items instead of 5"));
}

// A quote that is not closed, or is where none may be, takes no other line with it.
TEST_F(TableFilesTest, BadQuotesOfCsvAreOneBadLineEach) {
  fs::create_directory(File("others"));
  testing::WriteFile(File("others") + "/a.csv",
                     "id,at,state\nbare,1,5\" disk\ngood,2,x\n\"two\nlines\",3,\"say \"\"hi\"\"\"\n"
                     "open,4,\"never\ngood,5,y\r\n\"closed\"early,6,z\ngood,7,z");
  const Outcome csv = Import("types", "others", {"--format", "CSV"});
  EXPECT_EQ(csv.exit_code, 1);
  EXPECT_THAT(csv.out, HasSubstr(R"("items": 4, "left_out_lines": 3)")) << csv.err;
  const std::string listed = testing::ReadFile(File("others") + "/itemdb-import-types-errors.jsonl");
  EXPECT_THAT(listed, HasSubstr(R"("line": 2, )"));
  EXPECT_THAT(listed, HasSubstr(R"("line": 6, )"));
  EXPECT_THAT(listed, HasSubstr(R"("line": 8, )"));
  EXPECT_THAT(Scan("types"), HasSubstr(R"("id": {"S": "two\nlines"}, "state": {"S": "say \"hi\""})"));
  EXPECT_THAT(Scan("types"), HasSubstr(R"({"at": {"N": "7"}, "id": {"S": "good"}, "state": {"S": "z"}})"));
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
