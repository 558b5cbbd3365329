#include "tools/moving/full_export.h"

#include <openssl/evp.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/compression/decompressor.h"
#include "common/status_macros.h"
#include "tools/base/item_key.h"
#include "tools/files/data_file.h"
#include "tools/files/item_lines.h"
#include "tools/json/json_value.h"
#include "tools/moving/copier.h"
#include "tools/moving/item_digest.h"

namespace itemdb::tools {
namespace {

constexpr char kSummaryName[] = "manifest-summary.json";
constexpr char kFilesName[] = "manifest-files.json";
// Of full exports. Incremental ones have another.
constexpr char kReadVersion[] = "2020-06-30";
// A write to the target has so many items, or so many bytes of their lines, at most and one more.
constexpr size_t kItemsOfPage = 1'000;
constexpr size_t kBytesOfPage = 1 << 20;
// Where a data file is begun again, as the position of a segment.
constexpr char kLineAttribute[] = "line";

using Md5 = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

Md5 NewMd5() {
  Md5 md5(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  EVP_DigestInit_ex(md5.get(), EVP_md5(), nullptr);
  return md5;
}

std::string Finished(const Md5& md5) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_DigestFinal_ex(md5.get(), digest, &size);
  return {reinterpret_cast<const char*>(digest), size};
}

std::optional<std::string> Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) return std::nullopt;
  return text;
}

std::string TextOfMember(const JsonValue& object, std::string_view name) {
  const JsonValue* value = object.FindOrNull(name);
  return value != nullptr && value->kind == JsonValue::Kind::kString ? value->text : std::string();
}

std::optional<int64_t> CountOfMember(const JsonValue& object, std::string_view name) {
  const JsonValue* value = object.FindOrNull(name);
  int64_t number = 0;
  if (value == nullptr || value->kind != JsonValue::Kind::kNumber ||
      !absl::SimpleAtoi(value->text, &number) || number < 0)
    return std::nullopt;
  return number;
}

std::string AfterLast(const std::string& text, char separator) {
  return text.substr(text.rfind(separator) + 1);
}

ValueType ValueTypeOf(ScalarAttributeType type) {
  switch (type) {
    case ScalarAttributeType::kNumber:
      return ValueType::kNumber;
    case ScalarAttributeType::kBinary:
      return ValueType::kBinary;
    default:
      return ValueType::kString;
  }
}

}  // namespace

// ---- manifests

absl::Status FullExport::Unfit(const std::string& why) const {
  return absl::FailedPreconditionError("the export in " + directory_ + " cannot be read: " + why);
}

std::string FullExport::PathOf(const DataFile& file) const { return directory_ + "/data/" + file.name; }

absl::StatusOr<FullExport> FullExport::Open(const std::string& directory) {
  FullExport opened;
  opened.directory_ = directory;
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error)) return opened.Unfit("there is no such folder");
  ITEMDB_RETURN_IF_ERROR(opened.ReadSummary());
  ITEMDB_RETURN_IF_ERROR(opened.ReadFiles());
  return opened;
}

absl::Status FullExport::ReadSummary() {
  const std::optional<std::string> text = Contents(directory_ + "/" + kSummaryName);
  if (!text.has_value())
    return Unfit(absl::StrCat(kSummaryName,
                              " is missing, which is written when all data files are there. The "
                              "folder has the name AWSDynamoDB/ID in the bucket"));
  const absl::StatusOr<JsonValue> summary = ParseJson(*text);
  if (!summary.ok() || summary->kind != JsonValue::Kind::kObject)
    return Unfit(absl::StrCat(kSummaryName, " is no JSON object"));
  if (const std::string type = TextOfMember(*summary, "exportType"); !type.empty() && type != "FULL_EXPORT")
    return Unfit("it is of type " + type + ", and only a FULL_EXPORT has all items");
  if (const std::string version = TextOfMember(*summary, "version"); version != kReadVersion)
    return Unfit(absl::StrCat("it has the version \"", version, "\", and \"", kReadVersion,
                              "\" is read, that of full exports"));
  if (const std::string format = TextOfMember(*summary, "outputFormat"); format != "DYNAMODB_JSON")
    return Unfit("its files are " + format + ", and DYNAMODB_JSON is read");
  arn_ = TextOfMember(*summary, "exportArn");
  table_name_ = AfterLast(TextOfMember(*summary, "tableArn"), '/');
  table_id_ = TextOfMember(*summary, "tableId");
  const std::optional<int64_t> count = CountOfMember(*summary, "itemCount");
  const std::string time = TextOfMember(*summary, "exportTime");
  std::string error;
  if (arn_.empty() || table_name_.empty() || !count.has_value() ||
      !absl::ParseTime(absl::RFC3339_full, time, &time_, &error))
    return Unfit(absl::StrCat(kSummaryName, " lacks exportArn, tableArn, exportTime or itemCount"));
  item_count_ = *count;
  return absl::OkStatus();
}

absl::Status FullExport::ReadFiles() {
  const std::optional<std::string> text = Contents(directory_ + "/" + kFilesName);
  if (!text.has_value()) return Unfit(absl::StrCat(kFilesName, " is missing"));
  // Beside it, if it was copied too.
  if (const auto noted = Contents(directory_ + "/manifest-files.md5"); noted.has_value()) {
    const Md5 md5 = NewMd5();
    EVP_DigestUpdate(md5.get(), text->data(), text->size());
    const std::string digest = Finished(md5);
    const std::string wanted(absl::StripAsciiWhitespace(*noted));
    if (wanted != absl::Base64Escape(digest) &&
        absl::AsciiStrToLower(wanted) != absl::BytesToHexString(digest))
      return Unfit(absl::StrCat(kFilesName, " has another MD5 than manifest-files.md5 says"));
  }
  int64_t items = 0, number = 0;
  std::set<std::string> names;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    const absl::StatusOr<JsonValue> json = ParseJson(line);
    DataFile file;
    std::optional<int64_t> count;
    if (json.ok()) {
      file.name = AfterLast(TextOfMember(*json, "dataFileS3Key"), '/');
      count = CountOfMember(*json, "itemCount");
    }
    if (file.name.empty() || !count.has_value() ||
        !absl::Base64Unescape(TextOfMember(*json, "md5Checksum"), &file.md5) ||
        !names.insert(file.name).second)
      return Unfit(absl::StrCat("line ", number, " of ", kFilesName,
                                " is no JSON object with another dataFileS3Key, md5Checksum and itemCount"));
    file.item_count = *count;
    items += *count;
    std::error_code error;
    if (!std::filesystem::is_regular_file(PathOf(file), error))
      return Unfit("the data file data/" + file.name + " is missing");
    files_.push_back(std::move(file));
  }
  if (items != item_count_)
    return Unfit(absl::StrCat(kFilesName, " has files of ", items, " items, and ", kSummaryName, " tells of ",
                              item_count_));
  std::sort(files_.begin(), files_.end(),
            [](const DataFile& one, const DataFile& other) { return one.name < other.name; });
  return absl::OkStatus();
}

absl::Status FullExport::Check(const TableDescription& table, absl::Time now) const {
  if (!table_id_.empty() && !table.table_id.empty() && table_id_ != table.table_id)
    return Unfit("it is of another table " + table_name_ + ", which had the TableId " + table_id_ +
                 "; that of the source has " + table.table_id);
  if (now - time_ > kLongestAgeOfExport) {
    const absl::Duration age = absl::Floor(now - time_, absl::Minutes(1));
    return Unfit("it is " + absl::FormatDuration(age) + " old, and streams keep changes for " +
                 absl::FormatDuration(kLongestAgeOfExport) +
                 ": make another export, or leave --from-export out");
  }
  // Before anything is written. Each item is looked at later.
  for (const DataFile& file : files_) {
    if (file.item_count == 0) continue;
    const absl::Status first = ReadFile(file, [&](const Line& line, const Item& item) -> absl::Status {
      ITEMDB_RETURN_IF_ERROR(CheckKey(table.definition, file, line.number, item));
      return absl::CancelledError("the first is enough");
    });
    return absl::IsCancelled(first) ? absl::OkStatus() : first;
  }
  return absl::OkStatus();
}

absl::Status FullExport::CheckKey(const TableDefinition& definition, const DataFile& file, int64_t line,
                                  const Item& item) const {
  for (const KeySchemaElement& element : definition.key_schema) {
    ValueType wanted = ValueType::kString;
    for (const AttributeDefinition& attribute : definition.attribute_definitions) {
      if (attribute.attribute_name == element.attribute_name) wanted = ValueTypeOf(attribute.attribute_type);
    }
    const Value* value = item.find_or_null(element.attribute_name);
    if (value != nullptr && value->type() == wanted) continue;
    return Unfit(absl::StrCat("it is of a table with other keys: the item in line ", line, " of data/",
                              file.name, " has no attribute ", element.attribute_name, " of type ",
                              std::string(TypeName(wanted))));
  }
  return absl::OkStatus();
}

// ---- items

absl::Status FullExport::ReadFile(const DataFile& file,
                                  absl::FunctionRef<absl::Status(const Line&, Item)> on_item) const {
  const std::string path = PathOf(file);
  {
    std::ifstream bytes(path, std::ios::binary);
    const Md5 md5 = NewMd5();
    char buffer[64 << 10];
    while (bytes) {
      bytes.read(buffer, sizeof(buffer));
      EVP_DigestUpdate(md5.get(), buffer, static_cast<size_t>(bytes.gcount()));
    }
    if (!bytes.eof()) return Unfit("the data file data/" + file.name + " cannot be read");
    if (Finished(md5) != file.md5)
      return Unfit("the data file data/" + file.name + " has another MD5 than " + kFilesName + " says");
  }
  const absl::StatusOr<std::unique_ptr<ByteSource>> bytes = OpenFile(path);
  if (!bytes.ok()) return Unfit(std::string(bytes.status().message()));
  const std::unique_ptr<ByteSource> text = NewDecompressor(**bytes, Compression::kGzip);
  const ColumnTypes no_columns;
  ItemLines lines(*text, ItemFormat::kDynamoDbJson, no_columns);
  int64_t items = 0;
  while (true) {
    const int64_t number = lines.next_number();
    absl::StatusOr<std::optional<ItemLines::Line>> line = lines.Next();
    if (!line.ok())
      return Unfit(absl::StrCat("the data file data/", file.name, " after line ", number - 1, ": ",
                                line.status().message()));
    if (!line->has_value()) break;
    ++items;
    absl::StatusOr<Item>& item = (*line)->item;
    if (!item.ok())
      return Unfit(
          absl::StrCat("line ", (*line)->number, " of data/", file.name, ": ", item.status().message()));
    ITEMDB_RETURN_IF_ERROR(on_item({.number = (*line)->number, .bytes = (*line)->bytes}, *std::move(item)));
  }
  if (items == file.item_count) return absl::OkStatus();
  return Unfit(absl::StrCat("the data file data/", file.name, " has ", items, " items, and ", kFilesName,
                            " tells of ", file.item_count));
}

absl::StatusOr<FullExports> OpenExports(const std::vector<std::string>& directories) {
  FullExports exports;
  for (const std::string& directory : directories) {
    ITEMDB_ASSIGN_OR_RETURN(FullExport opened, FullExport::Open(directory));
    const auto [other, is_new] = exports.emplace(opened.table_name(), opened);
    if (!is_new)
      return absl::InvalidArgumentError("the exports in " + other->second.directory() + " and " + directory +
                                        " are of one table, " + opened.table_name());
  }
  return exports;
}

// ---- copy

namespace {

class ExportCopier {
 public:
  ExportCopier(const Side& target, MoveJournal& journal, Pace& pace,
               const std::function<void(int64_t)>& on_copied)
      : target_(target), journal_(journal), pace_(pace), on_copied_(on_copied) {}

  absl::Status Copy(const FullExport& from, const TableDefinition& definition, size_t table, size_t segment,
                    const std::optional<Item>& after) {
    const FullExport::DataFile& file = from.files()[segment];
    int64_t done_lines = 0;
    if (after.has_value()) {
      const Value* line = after->find_or_null(kLineAttribute);
      const Number* number = line == nullptr ? nullptr : line->number_or_null();
      // Else from its beginning: an item may be written again.
      if (number != nullptr) done_lines = number->ToInt64().value_or(0);
    }
    std::vector<BatchWrite> page;
    std::set<Digest> keys;
    size_t bytes = 0;
    const auto write = [&](const SegmentState& reached) -> absl::Status {
      ITEMDB_RETURN_IF_ERROR(target_.WriteItems(page, pace_));
      on_copied_(static_cast<int64_t>(page.size()));
      page.clear();
      keys.clear();
      bytes = 0;
      return journal_.Change(/*now=*/false,
                             [&](MoveState& state) { state.tables[table].segments[segment] = reached; });
    };
    ITEMDB_RETURN_IF_ERROR(from.ReadFile(file, [&](const FullExport::Line& line, Item item) -> absl::Status {
      if (line.number <= done_lines) return absl::OkStatus();
      ITEMDB_RETURN_IF_ERROR(from.CheckKey(definition, file, line.number, item));
      const Digest key = DigestOf(KeyOf(definition, item));
      // A write has no two items with one key.
      if (page.size() >= kItemsOfPage || bytes >= kBytesOfPage || keys.contains(key)) {
        ITEMDB_RETURN_IF_ERROR(write({.after = Item{{kLineAttribute, line.number - 1}}}));
        if (target_.patience().cancel().cancelled()) return absl::CancelledError("interrupted");
      }
      keys.insert(key);
      bytes += line.bytes;
      page.push_back(BatchPut{definition.table_name, std::move(item)});
      return absl::OkStatus();
    }));
    return write({.done = true});
  }

 private:
  const Side& target_;
  MoveJournal& journal_;
  Pace& pace_;
  const std::function<void(int64_t)>& on_copied_;
};

}  // namespace

absl::Status CopyExports(const FullExports& exports, const std::vector<TableDefinition>& definitions,
                         const Side& target, MoveJournal& journal, Pace& pace, int workers,
                         const std::function<void(int64_t)>& on_copied) {
  struct FileToCopy {
    size_t table;
    size_t segment;
  };
  const MoveState state = journal.state();
  std::vector<FileToCopy> files;
  for (size_t table = 0; table < state.tables.size(); ++table) {
    const MovedTable& moved = state.tables[table];
    for (size_t segment = 0; segment < moved.segments.size(); ++segment) {
      if (!moved.segments[segment].done) files.push_back({.table = table, .segment = segment});
    }
  }
  ExportCopier copier(target, journal, pace, on_copied);
  return InParallel(workers, files.size(), [&](size_t i) {
    const auto [table, segment] = files[i];
    const MovedTable& moved = state.tables[table];
    return copier.Copy(exports.at(moved.name), definitions[table], table, segment,
                       moved.segments[segment].after);
  });
}

}  // namespace itemdb::tools
