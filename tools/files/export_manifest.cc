#include "tools/files/export_manifest.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tools/json/table_json.h"

namespace itemdb::tools {
namespace {

constexpr int64_t kManifestVersion = 1;
using Kind = JsonValue::Kind;

// The member `name`, which must be there and be of `kind`.
absl::StatusOr<const JsonValue*> MemberOf(const JsonValue& json, std::string_view name, Kind kind) {
  const JsonValue* member = json.FindOrNull(name);
  if (member == nullptr || member->kind != kind)
    return absl::DataLossError(
        std::string("its member ").append(name).append(" is missing or is not ").append(KindName(kind)));
  return member;
}

absl::StatusOr<std::string> TextIn(const JsonValue& json, std::string_view name) {
  ITEMDB_ASSIGN_OR_RETURN(const JsonValue* const member, MemberOf(json, name, Kind::kString));
  return member->text;
}

absl::StatusOr<int64_t> NumberIn(const JsonValue& json, std::string_view name) {
  ITEMDB_ASSIGN_OR_RETURN(const JsonValue* const member, MemberOf(json, name, Kind::kNumber));
  int64_t number = 0;
  if (!absl::SimpleAtoi(member->text, &number))
    return absl::DataLossError(std::string("its member ").append(name).append(" is not a whole number"));
  return number;
}

JsonValue KeySchemaOf(const TableDefinition& definition) {
  JsonValue keys = JsonValue::Array();
  for (const KeySchemaElement& element : definition.key_schema) {
    std::string_view type;
    for (const AttributeDefinition& attribute : definition.attribute_definitions)
      if (attribute.attribute_name == element.attribute_name) type = NameOf(attribute.attribute_type);
    keys.elements.push_back(JsonValue::Object()
                                .Add("attributeName", element.attribute_name)
                                .Add("attributeType", type)
                                .Add("keyType", NameOf(element.key_type)));
  }
  return keys;
}

// The table that an export of itemd's tells: its keys.
absl::StatusOr<TableDefinition> DefinitionOf(const JsonValue& json) {
  ITEMDB_ASSIGN_OR_RETURN(const JsonValue* const schema, MemberOf(json, "schema", Kind::kObject));
  ITEMDB_ASSIGN_OR_RETURN(const JsonValue* const keys, MemberOf(*schema, "keySchema", Kind::kArray));
  TableDefinition definition;
  for (const JsonValue& key : keys->elements) {
    ITEMDB_ASSIGN_OR_RETURN(const std::string name, TextIn(key, "attributeName"));
    ITEMDB_ASSIGN_OR_RETURN(const std::string type, TextIn(key, "attributeType"));
    ITEMDB_ASSIGN_OR_RETURN(const std::string key_type, TextIn(key, "keyType"));
    definition.key_schema.push_back({name, key_type == "HASH" ? KeyType::kHash : KeyType::kRange});
    definition.attribute_definitions.push_back({name, type == "N"   ? ScalarAttributeType::kNumber
                                                      : type == "B" ? ScalarAttributeType::kBinary
                                                                    : ScalarAttributeType::kString});
  }
  return definition;
}

absl::StatusOr<ColumnTypes> ColumnsIn(const JsonValue& json) {
  ColumnTypes types;
  const JsonValue* columns = json.FindOrNull("columns");
  if (columns == nullptr) return types;
  for (const auto& [name, type] : columns->members) {
    const std::optional<ColumnType> known = ColumnTypeFromName(type.text);
    if (!known.has_value()) return absl::DataLossError("the type of its column " + name + " is not known");
    types.emplace(name, *known);
  }
  return types;
}

absl::StatusOr<DataFile> DataFileIn(const JsonValue& json) {
  DataFile file;
  ITEMDB_ASSIGN_OR_RETURN(file.key, TextIn(json, "key"));
  ITEMDB_ASSIGN_OR_RETURN(file.bytes, NumberIn(json, "bytes"));
  ITEMDB_ASSIGN_OR_RETURN(file.sha256, TextIn(json, "sha256"));
  if (json.FindOrNull("items") != nullptr) {
    ITEMDB_ASSIGN_OR_RETURN(file.items, NumberIn(json, "items"));
  }
  const std::filesystem::path path = file.key;
  if (path.is_absolute() || std::find(path.begin(), path.end(), "..") != path.end())
    return absl::DataLossError("its file " + file.key + " is not in its folder");
  return file;
}

// The data files of an export of itemd's, whose keys begin with its prefix. Their paths in its own folder.
absl::StatusOr<std::vector<DataFile>> DataFilesOfDaemon(std::vector<DataFile> all, const std::string& arn) {
  const std::string folder = arn.substr(arn.rfind('/') + 1) + "/";
  std::vector<DataFile> files;
  for (DataFile& file : all) {
    const size_t begin = file.key.find(folder);
    if (begin == std::string::npos) {
      return absl::FailedPreconditionError(
          "it is of an incremental export, whose lines are changes; only full exports can be imported");
    }
    file.key.erase(0, begin + folder.size());
    if (!file.key.starts_with("data/")) continue;
    if (file.key.ends_with(".ion.gz")) {
      return absl::FailedPreconditionError(
          "its files are Ion, which itemctl does not read; itemd does: itemctl import start");
    }
    files.push_back(std::move(file));
  }
  return files;
}

absl::StatusOr<ExportManifest> ManifestFromJson(const JsonValue& json) {
  ITEMDB_ASSIGN_OR_RETURN(const int64_t version, NumberIn(json, "version"));
  if (version != kManifestVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("it has version ", version, "; this itemctl reads version ", kManifestVersion));
  }
  ExportManifest manifest;
  ITEMDB_ASSIGN_OR_RETURN(manifest.database_id, TextIn(json, "databaseId"));
  ITEMDB_ASSIGN_OR_RETURN(const int64_t change, NumberIn(json, "changeSequence"));
  manifest.change_sequence = static_cast<uint64_t>(change);
  manifest.last_change_sequence = manifest.change_sequence;
  ITEMDB_ASSIGN_OR_RETURN(manifest.definition, DefinitionOf(json));
  ITEMDB_ASSIGN_OR_RETURN(const JsonValue* const files, MemberOf(json, "files", Kind::kArray));
  for (const JsonValue& file : files->elements) {
    ITEMDB_ASSIGN_OR_RETURN(DataFile read, DataFileIn(file));
    manifest.files.push_back(std::move(read));
  }
  if (json.FindOrNull("exportArn") != nullptr) {
    ITEMDB_ASSIGN_OR_RETURN(const std::string arn, TextIn(json, "exportArn"));
    ITEMDB_ASSIGN_OR_RETURN(manifest.files, DataFilesOfDaemon(std::move(manifest.files), arn));
    manifest.one_state = true;
    manifest.compression = Compression::kGzip;
    return manifest;
  }
  ITEMDB_ASSIGN_OR_RETURN(const std::string format, TextIn(json, "format"));
  ITEMDB_ASSIGN_OR_RETURN(const std::string compression, TextIn(json, "compression"));
  const std::optional<ItemFormat> known_format = ItemFormatFromName(format);
  const std::optional<Compression> known_compression = CompressionFromName(compression);
  if (!known_format.has_value() || !known_compression.has_value())
    return absl::FailedPreconditionError("its format " + format + " " + compression + " is not known");
  manifest.format = *known_format;
  manifest.compression = *known_compression;
  ITEMDB_ASSIGN_OR_RETURN(const int64_t last_change, NumberIn(json, "lastChangeSequence"));
  manifest.last_change_sequence = static_cast<uint64_t>(last_change);
  ITEMDB_ASSIGN_OR_RETURN(const JsonValue* const one_state, MemberOf(json, "oneState", Kind::kBool));
  manifest.one_state = one_state->boolean;
  ITEMDB_ASSIGN_OR_RETURN(manifest.columns, ColumnsIn(json));
  ITEMDB_ASSIGN_OR_RETURN(const JsonValue* const table, MemberOf(json, "table", Kind::kObject));
  absl::StatusOr<TableDefinition> definition = TableDefinitionFromJson(*table);
  if (!definition.ok()) return absl::DataLossError(definition.status().message());
  manifest.definition = *std::move(definition);
  return manifest;
}

}  // namespace

int64_t ExportManifest::item_count() const {
  int64_t count = 0;
  for (const DataFile& file : files) {
    if (file.items < 0) return -1;
    count += file.items;
  }
  return count;
}

JsonValue ManifestToJson(const ExportManifest& manifest, const TableDescription& table) {
  JsonValue files = JsonValue::Array();
  for (const DataFile& file : manifest.files) {
    files.elements.push_back(JsonValue::Object()
                                 .Add("key", file.key)
                                 .Add("bytes", file.bytes)
                                 .Add("sha256", file.sha256)
                                 .Add("items", file.items));
  }
  JsonValue json = JsonValue::Object()
                       .Add("version", kManifestVersion)
                       .Add("databaseId", manifest.database_id)
                       .Add("changeSequence", manifest.change_sequence)
                       .Add("lastChangeSequence", manifest.last_change_sequence)
                       .Add("oneState", manifest.one_state)
                       .Add("format", NameOf(manifest.format))
                       .Add("compression", NameOf(manifest.compression))
                       .Add("itemCount", manifest.item_count());
  if (manifest.format == ItemFormat::kCsv) {
    JsonValue columns = JsonValue::Object();
    for (const auto& [name, type] : manifest.columns) columns.Add(name, NameOf(type));
    json.Add("columns", std::move(columns));
  }
  return json.Add("schema", JsonValue::Object().Add("keySchema", KeySchemaOf(table.definition)))
      .Add("table", TableToJson(table))
      .Add("files", std::move(files));
}

absl::StatusOr<ExportManifest> ParseManifest(std::string_view text, const std::string& path) {
  const absl::StatusOr<JsonValue> json = ParseJson(text);
  if (!json.ok())
    return absl::DataLossError(path + ": it is no JSON: " + std::string(json.status().message()));
  absl::StatusOr<ExportManifest> manifest = ManifestFromJson(*json);
  if (manifest.ok()) return manifest;
  return absl::Status(manifest.status().code(), path + ": " + std::string(manifest.status().message()));
}

}  // namespace itemdb::tools
