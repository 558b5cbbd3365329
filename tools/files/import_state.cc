#include "tools/files/import_state.h"

#include <cstdio>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tools/base/durable_file.h"
#include "tools/json/member_reader.h"

namespace itemdb::tools {
namespace {

constexpr int64_t kImportStateVersion = 1;

}  // namespace

absl::StatusOr<std::optional<ImportState>> LoadImportState(const std::string& path) {
  ITEMDB_ASSIGN_OR_RETURN(const std::optional<std::string> text, ReadFileIfExists(path));
  if (!text.has_value()) return std::nullopt;
  const absl::StatusOr<JsonValue> json = ParseJson(*text);
  if (!json.ok()) return absl::DataLossError(path + " is no state of an import; delete it to begin again");
  MemberReader reader(*json, path);
  if (const int64_t version = reader.RequiredInt64("version"); version != kImportStateVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is of another version of itemctl; delete it to begin again"));
  }
  const ImportState state{.source = reader.RequiredString("source"),
                          .database_id = reader.OptionalString("databaseId"),
                          .begin_seconds = reader.RequiredInt64("beginSeconds"),
                          .table_id = reader.OptionalString("tableId"),
                          .file = reader.RequiredInt64("file"),
                          .line = reader.RequiredInt64("line"),
                          .put_items = reader.RequiredInt64("putItems"),
                          .left_out_lines = reader.RequiredInt64("leftOutLines"),
                          .report_bytes = reader.RequiredInt64("reportBytes")};
  if (reader.status().ok() && state.file >= 0 && state.line >= 1) return state;
  return absl::DataLossError(path + " is no state of an import; delete it to begin again");
}

absl::Status StoreImportState(const std::string& path, const ImportState& state) {
  const JsonValue json = JsonValue::Object()
                             .Add("version", kImportStateVersion)
                             .Add("source", state.source)
                             .Add("databaseId", state.database_id)
                             .Add("beginSeconds", state.begin_seconds)
                             .Add("tableId", state.table_id)
                             .Add("file", state.file)
                             .Add("line", state.line)
                             .Add("putItems", state.put_items)
                             .Add("leftOutLines", state.left_out_lines)
                             .Add("reportBytes", state.report_bytes);
  return ReplaceFile(path, Indented(json) + "\n");
}

absl::Status DeleteImportState(const std::string& path) {
  if (std::remove(path.c_str()) != 0) return FileError("delete", path);
  return SyncFolder(std::filesystem::path(path).parent_path().string());
}

}  // namespace itemdb::tools
