#include "tools/model/model_folder.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/nearest.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"
#include "tools/json/call_json.h"
#include "tools/json/item_json.h"
#include "tools/json/member_reader.h"
#include "tools/json/table_json.h"
#include "tools/model/model_keys.h"
#include "tools/model/model_parameters.h"

namespace itemdb::tools {
namespace {

using Kind = JsonValue::Kind;

constexpr size_t kMaxTimeToLiveAttributeBytes = 255;

std::string PathIn(const std::string& directory, std::string_view file) {
  return (std::filesystem::path(directory) / file).string();
}

// Prepends the file's path to the error message.
absl::Status InFile(const std::string& path, const absl::Status& status) {
  return UsageError(path + ": " + std::string(status.message()));
}

// The names of the files in `directory`, sorted.
absl::StatusOr<std::vector<std::string>> FilesIn(const std::string& directory) {
  std::error_code error;
  std::vector<std::string> files;
  std::filesystem::directory_iterator it(directory, error);
  while (!error && it != std::filesystem::directory_iterator()) {
    files.push_back(it->path().filename().string());
    it.increment(error);
  }
  if (error) {
    return UsageError(absl::StrFormat("cannot read the model folder %s: %s", directory, error.message()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

// ---- tables and items ----------------------------------------------------------------------------

absl::StatusOr<ModelTable> ReadTable(Context& context, const std::string& path, const std::string& name) {
  ITEMDB_ASSIGN_OR_RETURN(std::string text, context.ReadFile(path));
  absl::StatusOr<TableDefinition> definition = ParseTableDefinition(text);
  if (!definition.ok()) return InFile(path, definition.status());
  if (definition->table_name != name) {
    return UsageError(absl::StrFormat("%s: TableName is %s, but by its file name it must be %s", path,
                                      JsonString(definition->table_name), JsonString(name)));
  }
  if (absl::Status keys = CheckKeysAreDefined(*definition); !keys.ok()) return InFile(path, keys);
  return ModelTable{.definition = *std::move(definition)};
}

// Returns the attribute; empty if the request turns the time to live off.
absl::StatusOr<std::string> ReadTimeToLive(Context& context, const std::string& path,
                                           const std::string& table_name) {
  ITEMDB_ASSIGN_OR_RETURN(std::string text, context.ReadFile(path));
  absl::StatusOr<JsonValue> json = ParseJson(text);
  if (!json.ok()) return InFile(path, json.status());
  MemberReader reader(*json, path);
  reader.Allow({"TableName", "TimeToLiveSpecification"});
  const std::string name = reader.RequiredString("TableName");
  std::string attribute;
  reader.Object<bool>("TimeToLiveSpecification", true, [&](MemberReader& specification) {
    specification.Allow({"AttributeName", "Enabled"});
    attribute = specification.RequiredString("AttributeName");
    if (attribute.empty() || attribute.size() > kMaxTimeToLiveAttributeBytes) {
      specification.Fail(absl::StrFormat("%s must have 1 to %d bytes", specification.PathOf("AttributeName"),
                                         kMaxTimeToLiveAttributeBytes));
    }
    if (!specification.RequiredBool("Enabled")) attribute.clear();
    return true;
  });
  if (!reader.status().ok()) return reader.status();
  if (name != table_name) {
    return UsageError(absl::StrFormat("%s: TableName is %s, but by its file name it must be %s", path,
                                      JsonString(name), JsonString(table_name)));
  }
  return attribute;
}

absl::StatusOr<std::vector<ModelItem>> ReadItems(Context& context, const std::string& path,
                                                 const TableDefinition& table) {
  ITEMDB_ASSIGN_OR_RETURN(std::string text, context.ReadFile(path));
  std::vector<ModelItem> items;
  std::istringstream lines(std::move(text));
  std::string line;
  for (int64_t number = 1; std::getline(lines, line); ++number) {
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    const std::string place = absl::StrFormat("%s line %d", path, number);
    ITEMDB_ASSIGN_OR_RETURN(Item item, ParseItem(line, ReadForm::kTyped, place));
    if (absl::Status key = CheckKeyOf(table, item); !key.ok()) return InFile(place, key);
    items.push_back({.item = std::move(item), .line = number});
  }
  return items;
}

// ---- patterns ------------------------------------------------------------------------------------

// Reads patterns and checks everything that can be checked without a daemon.
class PatternReader {
 public:
  PatternReader(const ModelFolder& folder, std::string path) : folder_(folder), path_(std::move(path)) {}

  absl::StatusOr<ModelPattern> Read(const JsonValue& json, size_t position) {
    const JsonValue* name = json.FindOrNull("Name");
    MemberReader reader(json, path_,
                        name != nullptr && name->kind == Kind::kString ? "the pattern " + name->text
                                                                       : absl::StrFormat("[%d]", position));
    reader.Allow({"Pattern", "Name", "Title", "Parameters", "Requests", "Items", "AnyOrder"});
    ModelPattern pattern;
    pattern.number = reader.OptionalInt64("Pattern");
    pattern.name = reader.RequiredString("Name");
    if (pattern.name.empty()) reader.Fail(reader.PathOf("Name") + " is empty");
    pattern.title = reader.OptionalString("Title");
    pattern.any_order = reader.OptionalBool("AnyOrder");
    ReadParameters(reader, &pattern);
    ReadAnswer(reader, &pattern);
    pattern.requests = reader.Objects<ModelRequest>("Requests", true, [](MemberReader& request) {
      request.Allow({"Operation", "Request"});
      const JsonValue* body = request.Member("Request", Kind::kObject, true);
      return ModelRequest{.operation = request.RequiredString("Operation"),
                          .request = body == nullptr ? JsonValue() : *body};
    });
    if (pattern.requests.empty()) reader.Fail(reader.PathOf("Requests") + " is empty");
    if (pattern.any_order && !pattern.items.has_value()) {
      reader.Fail(reader.PathOf("AnyOrder") + " is allowed only with Items");
    }
    if (!reader.status().ok()) return reader.status();
    ITEMDB_RETURN_IF_ERROR(CheckRequests(pattern));
    return pattern;
  }

 private:
  void ReadParameters(MemberReader& reader, ModelPattern* pattern) {
    const JsonValue* parameters = reader.Member("Parameters", Kind::kObject, false);
    if (parameters == nullptr) return;
    for (const auto& [name, value] : parameters->members) {
      if (!name.starts_with(':') || name.size() == 1) {
        reader.Fail(absl::StrFormat("%s: the name %s must be a colon and at least one more character",
                                    reader.PathOf("Parameters"), JsonString(name)));
      }
      if (value.kind == Kind::kNull) {
        pattern->parameters.emplace(name, std::nullopt);
        continue;
      }
      absl::StatusOr<Item> item =
          ItemFromJson(JsonValue::Object().Add(name, value), ReadForm::kTyped, reader.PathOf("Parameters"));
      if (!item.ok())
        reader.Fail(std::string(item.status().message()) + "; a parameter without a value is null");
      pattern->parameters.emplace(name, value);
    }
  }

  void ReadAnswer(MemberReader& reader, ModelPattern* pattern) {
    const JsonValue* items = reader.Member("Items", Kind::kArray, false);
    if (items == nullptr) return;
    pattern->items.emplace();
    for (size_t i = 0; i < items->elements.size(); ++i) {
      absl::StatusOr<Item> item = ItemFromJson(items->elements[i], ReadForm::kTyped,
                                               absl::StrFormat("%s[%d]", reader.PathOf("Items"), i));
      if (!item.ok()) return reader.Fail(std::string(item.status().message()));
      pattern->items->push_back(*std::move(item));
    }
  }

  absl::Status CheckRequests(const ModelPattern& pattern) const {
    ParameterValues values;
    for (const auto& [name, value] : pattern.parameters) {
      // Any value is good enough to check the form of the request.
      values.emplace(name, value.value_or(JsonValue::Object().Add("S", "-")));
    }
    const std::string document = absl::StrFormat("%s: the pattern %s", path_, pattern.name);
    std::set<std::string> used;
    for (size_t i = 0; i < pattern.requests.size(); ++i) {
      const ModelRequest& request = pattern.requests[i];
      ITEMDB_ASSIGN_OR_RETURN(Call call,
                              CallFromJson(request.operation, WithParameters(request.request, values, &used),
                                           absl::StrFormat("%s: Requests[%d]", document, i)));
      if (pattern.items.has_value() && OnlyCounts(call)) {
        return UsageError(absl::StrFormat(
            "%s: Requests[%d] has Select COUNT, which returns no items to compare with Items: remove one of "
            "the two",
            document, i));
      }
      for (const std::string& table : TablesOf(call)) {
        if (folder_.FindTable(table) != nullptr) continue;
        return UsageError(
            absl::StrFormat("%s reads or writes the table %s, which the folder does not have; "
                            "it has %s%s",
                            document, JsonString(table), absl::StrJoin(TableNames(), ", "),
                            common::DidYouMean(table, TableNames())));
      }
    }
    for (const auto& [name, value] : pattern.parameters) {
      if (!used.contains(name)) {
        return UsageError(absl::StrFormat("%s has the parameter %s, which no request uses", document, name));
      }
    }
    return absl::OkStatus();
  }

  std::vector<std::string> TableNames() const {
    std::vector<std::string> names;
    for (const ModelTable& table : folder_.tables) names.push_back(table.definition.table_name);
    return names;
  }

  const ModelFolder& folder_;
  const std::string path_;
};

absl::StatusOr<std::vector<ModelPattern>> ReadPatterns(Context& context, const ModelFolder& folder) {
  const std::string path = folder.PathOf(kPatternsFile);
  ITEMDB_ASSIGN_OR_RETURN(std::string text, context.ReadFile(path));
  absl::StatusOr<JsonValue> json = ParseJson(text);
  if (!json.ok()) return InFile(path, json.status());
  if (json->kind != Kind::kArray) {
    return UsageError(
        absl::StrFormat("%s must be an array of patterns, not %s", path, std::string(KindName(json->kind))));
  }
  std::vector<ModelPattern> patterns;
  std::set<std::string> names;
  PatternReader reader(folder, path);
  for (size_t i = 0; i < json->elements.size(); ++i) {
    ITEMDB_ASSIGN_OR_RETURN(ModelPattern pattern, reader.Read(json->elements[i], i));
    if (!names.insert(pattern.name).second) {
      return UsageError(absl::StrFormat("%s: two patterns have the name %s", path, JsonString(pattern.name)));
    }
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

}  // namespace

std::string ModelFolder::PathOf(std::string_view file) const { return PathIn(directory, file); }

const ModelTable* ModelFolder::FindTable(std::string_view table_name) const {
  for (const ModelTable& table : tables) {
    if (table.definition.table_name == table_name) return &table;
  }
  return nullptr;
}

absl::StatusOr<ModelFolder> ReadModelFolder(Context& context, const std::string& directory) {
  ITEMDB_ASSIGN_OR_RETURN(std::vector<std::string> files, FilesIn(directory));
  ModelFolder folder{.directory = directory, .tables = {}, .patterns = {}};
  const auto name_of = [](const std::string& file, std::string_view ending) {
    return file.substr(0, file.size() - ending.size());
  };
  for (const std::string& file : files) {
    if (!file.ends_with(kTableFileEnding)) continue;
    ITEMDB_ASSIGN_OR_RETURN(ModelTable table,
                            ReadTable(context, folder.PathOf(file), name_of(file, kTableFileEnding)));
    folder.tables.push_back(std::move(table));
  }
  if (folder.tables.empty()) {
    return UsageError(
        absl::StrFormat("the folder %s is not a model: it has no file NAME%s", directory, kTableFileEnding));
  }
  for (const std::string& file : files) {
    const bool of_items = file.ends_with(kItemsFileEnding);
    if (!of_items && !file.ends_with(kTimeToLiveFileEnding)) continue;
    const std::string name = name_of(file, of_items ? kItemsFileEnding : kTimeToLiveFileEnding);
    const auto table = std::find_if(folder.tables.begin(), folder.tables.end(), [&](const ModelTable& each) {
      return each.definition.table_name == name;
    });
    if (table == folder.tables.end()) {
      return UsageError(
          absl::StrFormat("%s belongs to a table that the folder does not define: %s%s is missing",
                          folder.PathOf(file), name, kTableFileEnding));
    }
    if (of_items) {
      ITEMDB_ASSIGN_OR_RETURN(auto items, ReadItems(context, folder.PathOf(file), table->definition));
      table->items = std::move(items);
    } else {
      ITEMDB_ASSIGN_OR_RETURN(auto attribute, ReadTimeToLive(context, folder.PathOf(file), name));
      table->time_to_live = std::move(attribute);
    }
  }
  if (std::find(files.begin(), files.end(), kPatternsFile) != files.end()) {
    ITEMDB_ASSIGN_OR_RETURN(std::vector<ModelPattern> patterns, ReadPatterns(context, folder));
    folder.patterns = std::move(patterns);
  }
  return folder;
}

}  // namespace itemdb::tools
