// Exports in DynamoDB's layout as `itemctl adopt --from-export` reads them: what is not whole is told by
// name.
#include "tools/moving/full_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kThingsExportArn[] =
    "arn:aws:dynamodb:eu-central-1:123456789012:table/Things/export/01760000000000-a1b2c3d4";

void WriteExportFile(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

void WriteExportGzip(const std::string& path, const std::string& text) {
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
}

std::string ReadExportFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string ExportMd5(const std::string& bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_md5(), nullptr);
  return absl::Base64Escape(std::string(reinterpret_cast<const char*>(digest), size));
}

std::string ExportLine(const std::string& id) {
  return R"({"Item":{"id":{"S":")" + id +
         R"("},"price":{"N":"1.50"}}})"
         "\n";
}

TableDescription ExportedThings() {
  TableDescription table;
  table.definition = {.table_name = "Things",
                      .attribute_definitions = {{"id", ScalarAttributeType::kString}},
                      .key_schema = {{"id", KeyType::kHash}}};
  table.table_id = "0000-1";
  return table;
}

class FullExportTest : public ::testing::Test {
 protected:
  FullExportTest() {
    std::filesystem::create_directory(Path("data"));
    AddFile("b", ExportLine("b1"), 1);
    AddFile("a", ExportLine("a1") + ExportLine("a2"), 2);
    AddFile("c", "", 0);
    WriteManifests(3);
  }
  std::string Path(const std::string& name) const { return directory_.path() + "/" + name; }
  void AddFile(const std::string& name, const std::string& text, int items) {
    WriteExportGzip(Path("data/" + name + ".json.gz"), text);
    NoteFile(name, items);
  }
  // As it is in the folder.
  void NoteFile(const std::string& name, int items) {
    files_ += absl::StrCat(R"({"itemCount":)", items, R"(,"md5Checksum":")",
                           ExportMd5(ReadExportFile(Path("data/" + name + ".json.gz"))),
                           R"(","etag":"0","dataFileS3Key":"x/AWSDynamoDB/01760000000000-a1b2c3d4/data/)",
                           name, R"(.json.gz"})", "\n");
  }
  void WriteManifests(int items, const std::string& more = R"("outputFormat":"DYNAMODB_JSON")",
                      const std::string& version = "2020-06-30") {
    WriteExportFile(Path("manifest-files.json"), files_);
    WriteExportFile(Path("manifest-files.md5"), ExportMd5(files_) + "\n");
    WriteExportFile(Path("manifest-summary.json"),
                    absl::StrCat(R"({"version":")", version, R"(","exportArn":")", kThingsExportArn,
                                 R"(","tableArn":"arn:aws:dynamodb:eu-central-1:123456789012:table/Things",)",
                                 R"("tableId":"0000-1","exportTime":"2026-11-27T10:00:00.000Z","itemCount":)",
                                 items, ",", more, "}\n"));
  }
  // What is wrong with it: found when it is opened, checked, or read.
  absl::Status Failure(const TableDescription& table = ExportedThings(),
                       absl::Duration age = absl::Hours(1)) const {
    absl::StatusOr<FullExport> opened = FullExport::Open(directory_.path());
    if (!opened.ok()) return opened.status();
    if (absl::Status checked = opened->Check(table, opened->time() + age); !checked.ok()) return checked;
    for (const FullExport::DataFile& file : opened->files()) {
      const absl::Status read = opened->ReadFile(file, [&](const FullExport::Line& line, const Item& item) {
        return opened->CheckKey(table.definition, file, line.number, item);
      });
      if (!read.ok()) return read;
    }
    return absl::OkStatus();
  }

  testing::TemporaryDirectory directory_;
  std::string files_;
};

TEST_F(FullExportTest, IsReadAsItIs) {
  const absl::StatusOr<FullExport> opened = FullExport::Open(directory_.path());
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->table_name(), "Things");
  EXPECT_EQ(opened->arn(), kThingsExportArn);
  EXPECT_EQ(opened->item_count(), 3);
  EXPECT_EQ(absl::FormatTime(opened->time(), absl::UTCTimeZone()), "2026-11-27T10:00:00+00:00");
  std::vector<std::string> ids;
  for (const FullExport::DataFile& file : opened->files()) {
    const absl::Status read = opened->ReadFile(file, [&](const FullExport::Line& line, const Item& item) {
      ids.push_back(
          absl::StrCat(file.name, ":", line.number, " ", *item.find_or_null("id")->string_or_null()));
      return absl::OkStatus();
    });
    EXPECT_TRUE(read.ok()) << read;
  }
  // In the order of names, which a run that goes on finds again.
  EXPECT_THAT(ids, ElementsAre("a.json.gz:1 a1", "a.json.gz:2 a2", "b.json.gz:1 b1"));
  EXPECT_TRUE(Failure().ok()) << Failure();
  EXPECT_TRUE(Failure(ExportedThings(), absl::Hours(24)).ok());
}

TEST_F(FullExportTest, WhatIsWrongIsToldByName) {
  struct Case {
    std::string name;
    std::function<void()> spoil;
    std::string says;
    TableDescription table = ExportedThings();
    absl::Duration age = absl::Hours(1);
  };
  TableDescription other_id = ExportedThings(), other_keys = ExportedThings(), other_type = ExportedThings();
  other_id.table_id = "0000-2";
  other_keys.definition.key_schema = {{"pk", KeyType::kHash}};
  other_keys.definition.attribute_definitions = {{"pk", ScalarAttributeType::kBinary}};
  other_type.definition.attribute_definitions = {{"id", ScalarAttributeType::kNumber}};
  const std::vector<Case> cases = {
      {"no folder", [&] { std::filesystem::remove_all(directory_.path()); }, "there is no such folder"},
      {"half", [&] { std::filesystem::remove(Path("manifest-summary.json")); },
       "manifest-summary.json is missing, which is written when all data files are there"},
      {"no list", [&] { std::filesystem::remove(Path("manifest-files.json")); },
       "manifest-files.json is missing"},
      {"no data file", [&] { std::filesystem::remove(Path("data/b.json.gz")); },
       "the data file data/b.json.gz is missing"},
      {"list of another",
       [&] { WriteExportFile(Path("manifest-files.json"), files_.substr(0, files_.find('\n') + 1)); },
       "manifest-files.json has another MD5 than manifest-files.md5 says"},
      {"short list",
       [&] {
         files_ = files_.substr(0, files_.find('\n') + 1);
         WriteManifests(3);
       },
       "manifest-files.json has files of 1 items, and manifest-summary.json tells of 3"},
      {"no list of files",
       [&] {
         files_ += "{}\n";
         WriteManifests(3);
       },
       "line 4 of manifest-files.json is no JSON object"},
      {"summary is no JSON", [&] { WriteExportFile(Path("manifest-summary.json"), "{"); },
       "manifest-summary.json is no JSON object"},
      {"summary says nothing",
       [&] { WriteManifests(3, R"("outputFormat":"DYNAMODB_JSON","x":1)", "2031-01-01"); },
       "it has the version \"2031-01-01\""},
      {"incremental",
       [&] {
         WriteManifests(3, R"("outputFormat":"DYNAMODB_JSON","exportType":"INCREMENTAL_EXPORT")",
                        "2023-08-01");
       },
       "it is of type INCREMENTAL_EXPORT, and only a FULL_EXPORT has all items"},
      {"Ion", [&] { WriteManifests(3, R"("outputFormat":"ION")"); },
       "its files are ION, and DYNAMODB_JSON is read"},
      {"too old", [] {}, "it is 24h1m old, and streams keep changes for 24h: make another export",
       ExportedThings(), absl::Hours(24) + absl::Minutes(1)},
      {"another table of the name", [] {},
       "it is of another table Things, which had the TableId 0000-1; that of the source has 0000-2",
       other_id},
      {"other keys", [] {}, "other keys: the item in line 1 of data/a.json.gz has no attribute pk of type B",
       other_keys},
      {"keys of another type", [] {}, "the item in line 1 of data/a.json.gz has no attribute id of type N",
       other_type},
      {"damaged",
       [&] {
         WriteExportFile(Path("data/b.json.gz"), "x" + ReadExportFile(Path("data/b.json.gz")).substr(1));
       },
       "the data file data/b.json.gz has another MD5 than manifest-files.json says"},
      {"fewer items",
       [&] {
         AddFile("d", ExportLine("d1"), 2);
         WriteManifests(5);
       },
       "the data file data/d.json.gz has 1 items, and manifest-files.json tells of 2"},
      {"no items",
       [&] {
         AddFile("d", ExportLine("d1") + "{\"id\": 1}\n", 2);
         WriteManifests(5);
       },
       "line 2 of data/d.json.gz: the line is not {\"Item\":{...}}"},
      {"no typed items",
       [&] {
         AddFile("d", R"({"Item":{"id":"plain"}})", 1);
         WriteManifests(4);
       },
       "line 1 of data/d.json.gz: "},
      {"cut",
       [&] {
         WriteExportGzip(Path("data/d.json.gz"), ExportLine("d1"));
         WriteExportFile(Path("data/d.json.gz"), ReadExportFile(Path("data/d.json.gz")).substr(0, 30));
         NoteFile("d", 1);
         WriteManifests(4);
       },
       "the data file data/d.json.gz after line 0: the gzip data ends before it is complete"},
      {"not compressed",
       [&] {
         WriteExportFile(Path("data/d.json.gz"), ExportLine("d1"));
         NoteFile("d", 1);
         WriteManifests(4);
       },
       "the data file data/d.json.gz after line 0: the object is not valid gzip data"},
  };
  const std::string whole = directory_.path() + ".whole", files = files_;
  std::filesystem::copy(directory_.path(), whole, std::filesystem::copy_options::recursive);
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    one.spoil();
    const absl::Status failure = Failure(one.table, one.age);
    EXPECT_EQ(failure.code(), absl::StatusCode::kFailedPrecondition) << failure;
    EXPECT_THAT(std::string(failure.message()),
                HasSubstr("the export in " + directory_.path() + " cannot be read"));
    EXPECT_THAT(std::string(failure.message()), HasSubstr(one.says));
    std::filesystem::remove_all(directory_.path());
    std::filesystem::copy(whole, directory_.path(), std::filesystem::copy_options::recursive);
    files_ = files;
  }
  std::filesystem::remove_all(whole);
  EXPECT_TRUE(Failure().ok()) << Failure();
}

TEST_F(FullExportTest, EachTableHasOne) {
  const absl::StatusOr<FullExports> one = OpenExports({directory_.path()});
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(one->count("Things"), 1u);
  const absl::Status two = OpenExports({directory_.path(), directory_.path()}).status();
  EXPECT_THAT(std::string(two.message()), HasSubstr("are of one table, Things"));
}

// Without the name of the export a killed copy would go on by scans of the source.
TEST(MoveStateOfExports, IsReadAsItWasWritten) {
  MoveState state{.move_id = "m", .source = "s", .source_endpoint = "e", .target_endpoint = "t"};
  state.tables.push_back({.name = "T",
                          .table_id = "i",
                          .segments = {{.done = true}, {.after = Item{{"line", 7}}}, {}},
                          .export_arn = kThingsExportArn});
  const std::string text = OneLine(MoveStateToJson(state));
  const absl::StatusOr<MoveState> read = ParseMoveState(text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(OneLine(MoveStateToJson(*read)), text);
  EXPECT_EQ(read->tables[0].export_arn, kThingsExportArn);
}

}  // namespace
}  // namespace itemdb::tools
