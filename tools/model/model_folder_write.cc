// WriteModelFolder: files that people can read and edit, with one request or item a line.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"
#include "tools/json/item_json.h"
#include "tools/json/table_json.h"
#include "tools/model/model_folder.h"

namespace itemdb::tools {
namespace {

// The members of `json` that are in `names`, in the order of `names`.
JsonValue Only(const JsonValue& json, std::initializer_list<std::string_view> names) {
  JsonValue object = JsonValue::Object();
  for (std::string_view name : names) {
    if (const JsonValue* value = json.FindOrNull(name); value != nullptr)
      object.Add(std::string(name), *value);
  }
  return object;
}

// The CreateTable request that creates the table, without members that have their default value.
JsonValue CreateTableDocument(const TableDefinition& table) {
  TableDescription description{.definition = table};
  for (const GlobalSecondaryIndex& index : table.global_secondary_indexes) {
    description.indexes.push_back({.definition = index});
  }
  for (const LocalSecondaryIndex& index : table.local_secondary_indexes) {
    description.local_indexes.push_back({.definition = index});
  }
  const JsonValue described = TableToJson(description);
  JsonValue document = Only(described, {"TableName", "AttributeDefinitions", "KeySchema"});
  document.Add("BillingMode", NameOf(table.billing_mode));
  JsonValue more = Only(described, {"ProvisionedThroughput", "OnDemandThroughput", "WarmThroughput",
                                    "GlobalSecondaryIndexes", "LocalSecondaryIndexes", "Tags"});
  for (auto& [name, value] : more.members) {
    if (name.ends_with("SecondaryIndexes")) {
      for (JsonValue& index : value.elements) {
        index = Only(index, {"IndexName", "KeySchema", "Projection", "ProvisionedThroughput",
                             "OnDemandThroughput", "WarmThroughput"});
      }
    }
    document.Add(name, std::move(value));
  }
  if (table.stream_enabled) document.Add("StreamSpecification", *described.FindOrNull("StreamSpecification"));
  if (table.deletion_protection_enabled) document.Add("DeletionProtectionEnabled", true);
  if (table.table_class != TableClass::kStandard) {
    document.Add("TableClass", NameOf(table.table_class));
  }
  if (table.sse_specification.has_value()) {
    JsonValue sse = JsonValue::Object().Add("Enabled", table.sse_specification->enabled);
    const auto& [enabled, type, key_id] = *table.sse_specification;
    if (!type.empty()) sse.Add("SSEType", type);
    if (!key_id.empty()) sse.Add("KMSMasterKeyId", key_id);
    document.Add("SSESpecification", std::move(sse));
  }
  return document;
}

// `lines` as a JSON array, one element a line.
std::string ArrayOfLines(const std::vector<std::string>& lines) {
  std::string text = "[";
  for (size_t i = 0; i < lines.size(); ++i) absl::StrAppend(&text, i == 0 ? "" : ",", "\n     ", lines[i]);
  return text + "]";
}

std::string PatternText(const ModelPattern& pattern) {
  std::string text = "  {";
  if (pattern.number.has_value()) absl::StrAppend(&text, "\"Pattern\": ", *pattern.number, ", ");
  absl::StrAppend(&text, "\"Name\": ", JsonString(pattern.name));
  if (!pattern.title.empty()) absl::StrAppend(&text, ", \"Title\": ", JsonString(pattern.title));
  if (!pattern.parameters.empty()) {
    JsonValue parameters = JsonValue::Object();
    for (const auto& [name, value] : pattern.parameters)
      parameters.Add(name, value.value_or(JsonValue::Null()));
    absl::StrAppend(&text, ",\n   \"Parameters\": ", OneLine(parameters));
  }
  std::vector<std::string> lines;
  for (const ModelRequest& request : pattern.requests) {
    lines.push_back(
        OneLine(JsonValue::Object().Add("Operation", request.operation).Add("Request", request.request)));
  }
  absl::StrAppend(&text, ",\n   \"Requests\": ", ArrayOfLines(lines));
  if (pattern.any_order) absl::StrAppend(&text, ",\n   \"AnyOrder\": true");
  if (pattern.items.has_value()) {
    lines.clear();
    for (const Item& item : *pattern.items) lines.push_back(OneLine(ItemToJson(item, ItemForm::kTyped)));
    absl::StrAppend(&text, ",\n   \"Items\": ", ArrayOfLines(lines));
  }
  return text + "}";
}

absl::Status WriteFile(const std::string& path, const std::string& content) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << content;
  file.close();
  if (file.good()) return absl::OkStatus();
  return UsageError(absl::StrFormat("cannot write %s: %s", path, std::strerror(errno == 0 ? EIO : errno)));
}

absl::Status MakeEmptyDirectory(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  const bool empty = !error && std::filesystem::is_empty(directory, error);
  if (error) return UsageError(absl::StrFormat("cannot make the folder %s: %s", directory, error.message()));
  if (empty) return absl::OkStatus();
  return UsageError(absl::StrFormat(
      "the folder %s is not empty: a model is written into a new or empty folder", directory));
}

// The table's name becomes part of a file name. An invalid name, such as "../x", could lead out of the
// folder.
absl::Status CheckName(const std::string& name) {
  const auto allowed = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
  };
  if (!name.empty() && std::all_of(name.begin(), name.end(), allowed)) return absl::OkStatus();
  return UsageError(
      absl::StrFormat("the table name %s is not allowed; allowed are letters, digits, \"_\", \".\" and \"-\"",
                      JsonString(name)));
}

}  // namespace

absl::Status WriteModelFolder(const ModelFolder& folder) {
  for (const ModelTable& table : folder.tables) {
    ITEMDB_RETURN_IF_ERROR(CheckName(table.definition.table_name));
  }
  ITEMDB_RETURN_IF_ERROR(MakeEmptyDirectory(folder.directory));
  for (const ModelTable& table : folder.tables) {
    const std::string& name = table.definition.table_name;
    absl::Status status = WriteFile(folder.PathOf(absl::StrCat(name, kTableFileEnding)),
                                    Indented(CreateTableDocument(table.definition)) + "\n");
    if (!status.ok()) return status;
    if (!table.time_to_live.empty()) {
      const JsonValue request =
          JsonValue::Object()
              .Add("TableName", name)
              .Add("TimeToLiveSpecification",
                   JsonValue::Object().Add("AttributeName", table.time_to_live).Add("Enabled", true));
      status = WriteFile(folder.PathOf(absl::StrCat(name, kTimeToLiveFileEnding)), Indented(request) + "\n");
      if (!status.ok()) return status;
    }
    if (table.items.empty()) continue;
    std::string lines;
    for (const ModelItem& item : table.items) {
      absl::StrAppend(&lines, OneLine(ItemToJson(item.item, ItemForm::kTyped)), "\n");
    }
    status = WriteFile(folder.PathOf(absl::StrCat(name, kItemsFileEnding)), lines);
    if (!status.ok()) return status;
  }
  if (folder.patterns.empty()) return absl::OkStatus();
  std::string text = "[";
  for (size_t i = 0; i < folder.patterns.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "\n" : ",\n", PatternText(folder.patterns[i]));
  }
  return WriteFile(folder.PathOf(kPatternsFile), text + "\n]\n");
}

}  // namespace itemdb::tools
