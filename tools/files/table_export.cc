#include "tools/files/table_export.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_macros.h"
#include "itemdb/errors.h"
#include "tools/base/durable_file.h"
#include "tools/base/item_key.h"
#include "tools/files/data_file.h"
#include "tools/files/export_folder.h"
#include "tools/files/item_text.h"
#include "tools/json/item_json.h"

namespace itemdb::tools {
namespace {

constexpr int kExportStateVersion = 1;
constexpr int64_t kMaxFileTextBytes = 64 << 20;
// Items of CSV are kept in memory until their columns are known.
constexpr int64_t kMaxKeptTextBytes = 16 << 20;

class ExportRun {
 public:
  ExportRun(const LongCommand& command, const TableExportOptions& options, ExportFolder folder)
      : command_(command), options_(options), folder_(std::move(folder)) {}

  absl::StatusOr<ExportManifest> Run() {
    if (folder_.Has(kManifestName) && !folder_.Has(kExportStateName)) {
      return absl::FailedPreconditionError(folder_.path() + " has an export already; name another folder");
    }
    ITEMDB_ASSIGN_OR_RETURN(TableResult described,
                            command_.client.DescribeTable(options_.table_name, command_.call));
    table_ = std::move(described.table);
    ITEMDB_ASSIGN_OR_RETURN(database_id_, DatabaseIdOf(command_));
    if (folder_.Has(kManifestName)) return EndOfWholeExport();
    text_options_ = {.format = options_.format, .columns = options_.columns};
    for (const KeySchemaElement& key : table_.definition.key_schema)
      text_options_.leading_columns.push_back(key.attribute_name);
    ITEMDB_RETURN_IF_ERROR(BeginOrResume());
    command_.progress.SetTotal(table_.item_count);
    command_.progress.Set(manifest_.item_count());
    ITEMDB_RETURN_IF_ERROR(CopyItems());
    ITEMDB_RETURN_IF_ERROR(FinishFile());
    return Finish();
  }

 private:
  // The manifest is there: only the state file may have been left to delete.
  absl::StatusOr<ExportManifest> EndOfWholeExport() {
    ITEMDB_RETURN_IF_ERROR(LoadState().status());
    const std::string path = folder_.PathOf(kManifestName);
    ITEMDB_ASSIGN_OR_RETURN(const std::optional<std::string> text, ReadFileIfExists(path));
    ITEMDB_ASSIGN_OR_RETURN(ExportManifest manifest, ParseManifest(text.value_or(""), path));
    if (options_.needs_one_state && !manifest.one_state) {
      return absl::FailedPreconditionError(folder_.path() +
                                           " has an export of several states already; name another folder");
    }
    ITEMDB_RETURN_IF_ERROR(DeleteState());
    return manifest;
  }

  // What must be the same when an export goes on.
  JsonValue Identity() const {
    return JsonValue::Object()
        .Add("table", table_.definition.table_name)
        .Add("tableId", table_.table_id)
        .Add("databaseId", database_id_)
        .Add("format", NameOf(options_.format))
        .Add("compression", NameOf(options_.compression))
        .Add("columns", absl::StrJoin(options_.columns, ","));
  }

  // The state of this export; nothing if there is no file.
  absl::StatusOr<std::optional<JsonValue>> LoadState() const {
    const std::string path = folder_.PathOf(kExportStateName);
    ITEMDB_ASSIGN_OR_RETURN(const std::optional<std::string> text, ReadFileIfExists(path));
    if (!text.has_value()) return std::nullopt;
    absl::StatusOr<JsonValue> json = ParseJson(*text);
    if (!json.ok()) return absl::DataLossError(path + " is no state of an export: delete the folder");
    const JsonValue* version = json->FindOrNull("version");
    if (version == nullptr || version->text != absl::StrCat(kExportStateVersion))
      return absl::FailedPreconditionError(path + " is of another version of itemctl; name another folder");
    const JsonValue* identity = json->FindOrNull("export");
    if (identity == nullptr || OneLine(*identity) != OneLine(Identity())) {
      return absl::FailedPreconditionError(
          absl::StrCat(path, " is of another export: ", identity == nullptr ? "" : OneLine(*identity),
                       "; run it with the same table and options to go on, or name another folder"));
    }
    return *std::move(json);
  }

  absl::Status BeginOrResume() {
    manifest_.format = options_.format;
    manifest_.compression = options_.compression;
    manifest_.one_state = true;
    manifest_.database_id = database_id_;
    ITEMDB_ASSIGN_OR_RETURN(const std::optional<JsonValue> state, LoadState());
    if (state.has_value()) {
      ITEMDB_RETURN_IF_ERROR(Resume(*state, folder_.PathOf(kExportStateName)));
    } else if (folder_.IsEmpty()) {
      ITEMDB_ASSIGN_OR_RETURN(manifest_.change_sequence, ChangeSequence());
      ITEMDB_RETURN_IF_ERROR(StoreState());
    } else {
      return absl::FailedPreconditionError(
          folder_.path() + " is not empty and has no export that could go on; name another folder");
    }
    std::error_code error;
    std::filesystem::create_directory(folder_.PathOf(kDataFolder), error);
    if (!error) return absl::OkStatus();
    return absl::FailedPreconditionError("cannot make the folder " + folder_.PathOf(kDataFolder) + ": " +
                                         error.message());
  }

  absl::Status Resume(const JsonValue& state, const std::string& path) {
    const JsonValue* stored = state.FindOrNull("manifest");
    ITEMDB_ASSIGN_OR_RETURN(manifest_, ParseManifest(stored == nullptr ? "" : OneLine(*stored), path));
    if (manifest_.files.empty()) {
      manifest_.one_state = true;
      return absl::OkStatus();
    }
    if (options_.needs_one_state) {
      command_.say("the state that the interrupted export was read from is gone: beginning again");
      manifest_.files.clear();
      manifest_.columns.clear();
      manifest_.one_state = true;
      ITEMDB_ASSIGN_OR_RETURN(manifest_.change_sequence, ChangeSequence());
      ITEMDB_RETURN_IF_ERROR(StoreState());
      return folder_.RemoveOtherDataFiles(manifest_.files);
    }
    for (const DataFile& file : manifest_.files) {
      std::error_code error;
      if (std::filesystem::file_size(folder_.PathOf(file.key), error) != static_cast<uint64_t>(file.bytes) ||
          error) {
        return absl::DataLossError(folder_.PathOf(file.key) +
                                   " is not as it was written: delete the folder and begin again");
      }
    }
    const JsonValue* key = state.FindOrNull("lastKey");
    if (key == nullptr) return absl::DataLossError(path + " has no last key: delete the folder");
    ITEMDB_ASSIGN_OR_RETURN(last_key_, ItemFromJson(*key, ReadForm::kTyped, path));
    manifest_.one_state = false;
    command_.say(absl::StrCat("the export goes on behind ", manifest_.item_count(),
                              " items, which are of an earlier state than the others"));
    return absl::OkStatus();
  }

  absl::Status StoreState() {
    JsonValue state = JsonValue::Object()
                          .Add("version", kExportStateVersion)
                          .Add("export", Identity())
                          .Add("manifest", ManifestToJson(manifest_, table_));
    if (last_key_.has_value()) state.Add("lastKey", ItemToJson(*last_key_, ItemForm::kTyped));
    return ReplaceFile(folder_.PathOf(kExportStateName), Indented(state) + "\n");
  }

  absl::Status DeleteState() {
    const std::string path = folder_.PathOf(kExportStateName);
    if (std::remove(path.c_str()) != 0) return FileError("delete", path);
    return SyncFolder(folder_.path());
  }

  // 0 where it is not known.
  absl::StatusOr<uint64_t> ChangeSequence() {
    ITEMDB_ASSIGN_OR_RETURN(
        const ItemPage page,
        command_.client.Scan({.table_name = options_.table_name, .limit = 1, .consistent_read = true},
                             command_.call));
    return page.change_sequence;
  }

  absl::Status CopyItems() {
    if (manifest_.one_state) {
      const absl::Status copied = CopyStream(/*one_state=*/true);
      const bool is_lost = ReasonOf(copied) == kReasonStateTooOld;
      if (!is_lost && !absl::IsUnimplemented(copied)) return copied;
      if (options_.needs_one_state)
        return absl::AbortedError("the items cannot be of one state: " + std::string(copied.message()));
      manifest_.one_state = false;
      if (is_lost) command_.say("the other items are of later states: " + std::string(copied.message()));
    }
    return CopyStream(/*one_state=*/false);
  }

  absl::Status CopyStream(bool one_state) {
    const ScanRequest request{
        .table_name = options_.table_name, .exclusive_start_key = last_key_, .consistent_read = true};
    ItemRange items = command_.client.ScanStream(request, {.one_state = one_state}, command_.call);
    bool is_first = true;
    while (true) {
      ITEMDB_ASSIGN_OR_RETURN(std::optional<Item> item, items.Next());
      if (!item.has_value()) return absl::OkStatus();
      if (std::exchange(is_first, false) && one_state) {
        ITEMDB_ASSIGN_OR_RETURN(manifest_.last_change_sequence, ChangeSequence());
      }
      ITEMDB_RETURN_IF_ERROR(AddItem(*std::move(item)));
    }
  }

  absl::Status AddItem(Item item) {
    if (file_ == nullptr) {
      file_name_ = DataFileName(manifest_.files.size() + 1, SuffixOf(options_.format, options_.compression));
      ITEMDB_ASSIGN_OR_RETURN(file_,
                              DataFileWriter::Create(folder_.PathOf(file_name_), options_.compression));
      text_.emplace(text_options_, &manifest_.columns);
    }
    last_key_ = KeyOf(table_.definition, item);
    lines_.clear();
    text_->Add(std::move(item), &lines_);
    ITEMDB_RETURN_IF_ERROR(file_->Append(lines_));
    command_.progress.Add(1);
    const int64_t max_bytes = options_.format == ItemFormat::kCsv ? kMaxKeptTextBytes : kMaxFileTextBytes;
    if (text_->item_count() < options_.items_per_file && text_->text_bytes() < max_bytes &&
        !text_->has_many_cells())
      return absl::OkStatus();
    return FinishFile();
  }

  absl::Status FinishFile() {
    if (file_ == nullptr) return absl::OkStatus();
    lines_.clear();
    text_->Finish(&lines_);
    ITEMDB_RETURN_IF_ERROR(file_->Append(lines_));
    ITEMDB_ASSIGN_OR_RETURN(DataFile written, file_->Finish());
    file_ = nullptr;
    written.key = file_name_;
    written.items = text_->item_count();
    manifest_.files.push_back(std::move(written));
    return StoreState();
  }

  absl::StatusOr<ExportManifest> Finish() {
    ITEMDB_ASSIGN_OR_RETURN(const TableResult described,
                            command_.client.DescribeTable(options_.table_name, command_.call));
    if (described.table.table_id != table_.table_id) {
      return absl::FailedPreconditionError(
          "table " + options_.table_name +
          " was deleted and made again meanwhile: delete the folder and begin again");
    }
    // Of an empty table too, which has no first item.
    if (!manifest_.one_state || manifest_.last_change_sequence == 0) {
      ITEMDB_ASSIGN_OR_RETURN(manifest_.last_change_sequence, ChangeSequence());
    }
    // A backup was restored meanwhile.
    if (manifest_.last_change_sequence < manifest_.change_sequence)
      manifest_.change_sequence = manifest_.last_change_sequence = 0;
    ITEMDB_RETURN_IF_ERROR(folder_.RemoveOtherDataFiles(manifest_.files));
    const std::string text = Indented(ManifestToJson(manifest_, table_)) + "\n";
    ITEMDB_RETURN_IF_ERROR(ReplaceFile(folder_.PathOf(kManifestName), text, 0666));
    ITEMDB_RETURN_IF_ERROR(DeleteState());
    return manifest_;
  }

  const LongCommand& command_;
  const TableExportOptions& options_;
  const ExportFolder folder_;
  TableDescription table_;
  std::string database_id_;
  ItemTextOptions text_options_;
  ExportManifest manifest_;
  std::optional<Item> last_key_;
  // Of the data file that is being written.
  std::unique_ptr<DataFileWriter> file_;
  std::string file_name_;
  std::optional<ItemText> text_;
  // Of one item; a member, so that its memory is used again.
  std::string lines_;
};

}  // namespace

absl::StatusOr<std::string> DatabaseIdOf(const LongCommand& command) {
  const absl::StatusOr<DaemonStatus> status = command.client.GetStatus({}, command.call);
  if (status.ok()) return status->database_id;
  if (absl::IsUnavailable(status.status()) || absl::IsDeadlineExceeded(status.status()) ||
      absl::IsCancelled(status.status()))
    return status.status();
  return "";
}

absl::StatusOr<ExportManifest> ExportTable(const LongCommand& command, const TableExportOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(ExportFolder folder, ExportFolder::CreateAndLock(options.folder));
  return ExportRun(command, options, std::move(folder)).Run();
}

}  // namespace itemdb::tools
