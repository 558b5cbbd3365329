#include "tools/files/table_import.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/compression/decompressor.h"
#include "common/status_macros.h"
#include "itemdb/bulk_writer.h"
#include "itemdb/errors.h"
#include "tools/base/exit_codes.h"
#include "tools/files/data_file.h"
#include "tools/files/import_files.h"
#include "tools/files/import_report.h"
#include "tools/files/import_state.h"
#include "tools/files/item_lines.h"
#include "tools/json/table_json.h"

namespace itemdb::tools {
namespace {

// Lines that are put before they are waited for, and bytes of their text.
constexpr size_t kBatchLines = 10'000;
constexpr size_t kBatchBytes = 16 << 20;
constexpr int kImportChunksUnderWay = 8;
// The reason of BulkWriter when old and new items of a chunk are too large together.
constexpr std::string_view kChunkTooLarge = "LIMIT_EXCEEDED";
constexpr absl::Duration kStateInterval = absl::Seconds(1);
constexpr absl::Duration kTablePollInterval = absl::Milliseconds(100);

struct PendingLine {
  int64_t number = 0;
  Item item;
  bool is_left_out = false;
  // Why it is no item, or was refused.
  std::string reason = {};

  void LeaveOut(absl::string_view why) {
    is_left_out = true;
    reason = std::string(why);
  }
};

std::string ImportFileName(const TableImportOptions& options, const char* end) {
  // An ARN ends with the name.
  const std::string& name = options.table_name;
  return "itemdb-import-" + name.substr(name.rfind('/') + 1) + end;
}

bool HasSameKeys(const TableDefinition& a, const TableDefinition& b) {
  const auto type_of = [](const TableDefinition& definition, const std::string& name) {
    for (const AttributeDefinition& attribute : definition.attribute_definitions)
      if (attribute.attribute_name == name) return attribute.attribute_type;
    return ScalarAttributeType::kString;
  };
  return std::equal(a.key_schema.begin(), a.key_schema.end(), b.key_schema.begin(), b.key_schema.end(),
                    [&](const KeySchemaElement& left, const KeySchemaElement& right) {
                      return left.attribute_name == right.attribute_name && left.key_type == right.key_type &&
                             type_of(a, left.attribute_name) == type_of(b, right.attribute_name);
                    });
}

// "id S HASH, at N RANGE".
std::string KeysText(const TableDefinition& definition) {
  std::string text;
  for (const KeySchemaElement& key : definition.key_schema) {
    for (const AttributeDefinition& attribute : definition.attribute_definitions) {
      if (attribute.attribute_name != key.attribute_name) continue;
      text.append(text.empty() ? "" : ", ").append(key.attribute_name).append(" ");
      text.append(NameOf(attribute.attribute_type)).append(" ").append(NameOf(key.key_type));
    }
  }
  return text;
}

// The call may have been done all the same.
bool IsOutcomeUnknown(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) || absl::IsCancelled(status) ||
         absl::IsUnknown(status) || absl::IsInternal(status) || absl::IsAborted(status);
}

class ImportRun {
 public:
  ImportRun(const LongCommand& command, const TableImportOptions& options, ExportFolder folder)
      : command_(command),
        options_(options),
        folder_(std::move(folder)),
        state_path_(folder_.PathOf(ImportFileName(options, ".json"))),
        report_path_(folder_.PathOf(ImportFileName(options, "-errors.jsonl"))) {}

  absl::StatusOr<TableImportResult> Run() {
    ITEMDB_ASSIGN_OR_RETURN(
        files_, options_.format.has_value() ? ListFiles(folder_, *options_.format) : FindExport(folder_));
    ITEMDB_RETURN_IF_ERROR(BeginOrResume());
    report_ = std::make_unique<ImportReport>(report_path_, state_.left_out_lines, state_.report_bytes);
    ITEMDB_RETURN_IF_ERROR(report_->Cut());
    SetColumnTypes();
    command_.progress.SetTotal(std::max<int64_t>(files_.item_count(), 0));
    command_.progress.Set(state_.put_items + state_.left_out_lines);
    while (state_.file < static_cast<int64_t>(files_.files.size()))
      ITEMDB_RETURN_IF_ERROR(PutFile(files_.files[static_cast<size_t>(state_.file)]));
    TableImportResult result{.put_items = state_.put_items,
                             .left_out_lines = report_->lines(),
                             .files = state_.file,
                             .report = report_->lines() > 0 ? report_path_ : ""};
    ITEMDB_RETURN_IF_ERROR(CheckIsSameTable());
    ITEMDB_RETURN_IF_ERROR(DeleteImportState(state_path_));
    return result;
  }

 private:
  bool IsInterrupted() const { return command_.call.cancel.has_value() && command_.call.cancel->cancelled(); }

  // ---- the table and the state ----

  absl::Status BeginOrResume() {
    Sha256 source;
    source.Add(std::string(NameOf(files_.format)) + "\n");
    for (const DataFile& file : files_.files) source.Add(file.key + "\n" + file.sha256 + "\n");
    const std::string source_sha256 = source.Finish();
    ITEMDB_ASSIGN_OR_RETURN(const std::optional<ImportState> stored, LoadImportState(state_path_));
    if (stored.has_value() && stored->source != source_sha256) {
      return absl::FailedPreconditionError(state_path_ +
                                           " is of an import of other files; delete it to begin again");
    }
    ITEMDB_ASSIGN_OR_RETURN(const std::string database_id, DatabaseIdOf(command_));
    if (stored.has_value() && stored->database_id != database_id) {
      return absl::FailedPreconditionError(
          state_path_ + " is of an import into another database; delete it to begin again");
    }
    if (stored.has_value()) {
      state_ = *stored;
    } else {
      state_ = {.source = source_sha256,
                .database_id = database_id,
                .begin_seconds = absl::ToUnixSeconds(absl::Now())};
    }
    absl::StatusOr<TableResult> found = command_.client.DescribeTable(options_.table_name, command_.call);
    const bool was_creating = stored.has_value() && stored->table_id.empty();
    bool is_made_here = false;
    if (absl::IsNotFound(found.status()) && options_.create && (!stored.has_value() || was_creating)) {
      const absl::Status created = CreateTable();
      if (!created.ok() && !absl::IsAlreadyExists(created)) return created;
      is_made_here = created.ok();
      found = command_.client.DescribeTable(options_.table_name, command_.call);
    } else if (found.ok() && options_.create && !stored.has_value()) {
      return AlreadyExists();
    }
    ITEMDB_RETURN_IF_ERROR(found.status());
    // The table of an attempt before is not older than that attempt.
    if (options_.create && state_.table_id.empty() && !is_made_here &&
        found->table.creation_time < absl::FromUnixSeconds(state_.begin_seconds)) {
      ITEMDB_RETURN_IF_ERROR(DeleteImportState(state_path_));
      return AlreadyExists();
    }
    ITEMDB_RETURN_IF_ERROR(CheckTable(found->table, stored));
    while (found->table.table_status == TableStatus::kCreating) {
      if (IsInterrupted()) return absl::CancelledError("interrupted");
      absl::SleepFor(kTablePollInterval);
      found = command_.client.DescribeTable(options_.table_name, command_.call);
      ITEMDB_RETURN_IF_ERROR(found.status());
    }
    table_ = std::move(found->table);
    if (stored.has_value() && !was_creating) return absl::OkStatus();
    state_.table_id = table_.table_id;
    return StoreImportState(state_path_, state_);
  }

  absl::Status CreateTable() {
    // A table that is made, but not noted in the state, is known by the state without a table.
    ITEMDB_RETURN_IF_ERROR(StoreImportState(state_path_, state_));
    TableDefinition definition = files_.definition;
    definition.table_name = options_.table_name;
    absl::Status created = command_.client.CreateTable(definition, command_.call).status();
    if (created.ok() && files_.definition.table_name.empty()) {
      command_.say("an export of itemd tells only the keys: table " + options_.table_name +
                   " was made without indexes and settings");
    }
    if (created.ok() || absl::IsAlreadyExists(created) || IsOutcomeUnknown(created)) return created;
    ITEMDB_RETURN_IF_ERROR(DeleteImportState(state_path_));
    return created;
  }

  absl::Status AlreadyExists() const {
    return absl::AlreadyExistsError("there is a table " + options_.table_name +
                                    " already; without --create its items are put into it");
  }

  // The items that were put are in it.
  absl::Status CheckIsSameTable() const {
    ITEMDB_ASSIGN_OR_RETURN(const TableResult found,
                            command_.client.DescribeTable(options_.table_name, command_.call));
    if (found.table.table_id == table_.table_id) return absl::OkStatus();
    return absl::FailedPreconditionError(
        "table " + options_.table_name +
        " was deleted and made again meanwhile, so items are missing; delete " + state_path_ +
        " to begin again");
  }

  absl::Status CheckTable(const TableDescription& table, const std::optional<ImportState>& stored) const {
    if (stored.has_value() && !stored->table_id.empty() && stored->table_id != table.table_id) {
      return absl::FailedPreconditionError(state_path_ + " is of an import into another table " +
                                           options_.table_name + "; delete it to begin again");
    }
    if (!options_.format.has_value() && !HasSameKeys(table.definition, files_.definition)) {
      return absl::FailedPreconditionError("table " + options_.table_name + " has another key schema (" +
                                           KeysText(table.definition) + ") than the exported one (" +
                                           KeysText(files_.definition) + ")");
    }
    return absl::OkStatus();
  }

  // Cells of key attributes have their types, whatever the manifest says.
  void SetColumnTypes() {
    for (const AttributeDefinition& attribute : table_.definition.attribute_definitions) {
      ColumnType& type = files_.columns[attribute.attribute_name];
      type = ColumnType::kText;
      if (attribute.attribute_type == ScalarAttributeType::kNumber) type = ColumnType::kNumber;
      if (attribute.attribute_type == ScalarAttributeType::kBinary) type = ColumnType::kBinary;
    }
  }

  // ---- the items ----

  absl::Status PutFile(const DataFile& file) {
    ITEMDB_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> bytes, OpenFile(folder_.PathOf(file.key)));
    const std::unique_ptr<ByteSource> text = NewDecompressor(*bytes, CompressionOfFile(file.key));
    ItemLines lines(*text, files_.format, files_.columns);
    std::vector<PendingLine> batch;
    size_t batch_bytes = 0;
    int64_t line_count = 0;
    while (true) {
      if (IsInterrupted()) return absl::CancelledError("interrupted");
      absl::StatusOr<std::optional<ItemLines::Line>> line = lines.Next();
      if (!line.ok() && !absl::IsInvalidArgument(line.status())) return line.status();
      // The rest of the file cannot be read.
      const bool is_unreadable = !line.ok();
      const bool at_end = is_unreadable || !line->has_value();
      if (!at_end) ++line_count;
      if (!at_end && (*line)->number >= state_.line) {
        batch_bytes += (*line)->bytes;
        AddLine(std::move(**line), &batch);
      }
      if (is_unreadable) {
        batch.push_back({.number = lines.next_number(), .item = {}});
        batch.back().LeaveOut(std::string(line.status().message()) + "; the rest of the file is left out");
      }
      if (batch.size() < kBatchLines && batch_bytes < kBatchBytes && !at_end) continue;
      ITEMDB_RETURN_IF_ERROR(PutBatch(file.key, batch));
      if (at_end && !is_unreadable && !lines.has_one_column() && file.items >= 0 &&
          line_count != file.items) {
        return absl::DataLossError(
            absl::StrCat(folder_.PathOf(file.key), " has ", line_count, " items instead of ", file.items));
      }
      batch_bytes = 0;
      state_.line = lines.next_number();
      if (at_end) {
        ++state_.file;
        state_.line = 1;
      }
      ITEMDB_RETURN_IF_ERROR(StoreNow(/*now=*/at_end));
      if (at_end) return absl::OkStatus();
    }
  }

  static void AddLine(ItemLines::Line line, std::vector<PendingLine>* batch) {
    PendingLine& added = batch->emplace_back(PendingLine{.number = line.number, .item = {}});
    if (line.item.ok()) {
      added.item = *std::move(line.item);
    } else {
      added.LeaveOut(line.item.status().message());
    }
  }

  // Puts the items of the batch, notes the lines that are left out, and empties it.
  absl::Status PutBatch(const std::string& file, std::vector<PendingLine>& batch) {
    int chunk_writes = BulkWriterOptions().max_chunk_writes;
    while (true) {
      const absl::StatusOr<bool> done = TryPutBatch(batch, chunk_writes);
      // The items that are there are large too.
      const bool is_too_large = ReasonOf(done.status()) == kChunkTooLarge && chunk_writes > 1;
      if (is_too_large) chunk_writes = std::max(1, chunk_writes / 10);
      if (!is_too_large) ITEMDB_RETURN_IF_ERROR(done.status());
      if (!is_too_large && *done) break;
    }
    for (const PendingLine& line : batch) {
      if (!line.is_left_out) {
        ++state_.put_items;
      } else {
        ITEMDB_RETURN_IF_ERROR(report_->Add(file, line.number, line.reason));
      }
    }
    command_.progress.Add(static_cast<int64_t>(batch.size()));
    batch.clear();
    return absl::OkStatus();
  }

  // False: the writer ended because of one line, which is left out now.
  absl::StatusOr<bool> TryPutBatch(std::vector<PendingLine>& batch, int chunk_writes) {
    BulkWriter writer(
        command_.client,
        {.max_chunk_writes = chunk_writes, .chunks_under_way = kImportChunksUnderWay, .call = command_.call});
    std::vector<PendingLine*> sent;
    for (PendingLine& line : batch) {
      if (line.is_left_out) continue;
      const absl::Status put = writer.Put(options_.table_name, line.item);
      if (absl::IsInvalidArgument(put)) {
        line.LeaveOut(put.message());
        return false;
      }
      ITEMDB_RETURN_IF_ERROR(put);
      sent.push_back(&line);
    }
    ITEMDB_ASSIGN_OR_RETURN(const BulkWriteResult result, writer.Finish());
    for (const RejectedWrite& rejected : result.rejected) {
      if (rejected.reason == kReasonResourceNotFound) return absl::NotFoundError(rejected.message);
      sent[rejected.position]->LeaveOut(rejected.message);
    }
    return true;
  }

  absl::Status StoreNow(bool now) {
    if (!now && absl::Now() - stored_time_ < kStateInterval) return absl::OkStatus();
    ITEMDB_RETURN_IF_ERROR(report_->Sync());
    state_.left_out_lines = report_->lines();
    state_.report_bytes = report_->bytes();
    stored_time_ = absl::Now();
    return StoreImportState(state_path_, state_);
  }

  const LongCommand& command_;
  const TableImportOptions& options_;
  const ExportFolder folder_;
  const std::string state_path_;
  const std::string report_path_;
  ExportManifest files_;
  TableDescription table_;
  ImportState state_;
  absl::Time stored_time_ = absl::InfinitePast();
  std::unique_ptr<ImportReport> report_;
};

}  // namespace

absl::StatusOr<TableImportResult> ImportTable(const LongCommand& command, const TableImportOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(ExportFolder folder, ExportFolder::Lock(options.folder));
  return ImportRun(command, options, std::move(folder)).Run();
}

}  // namespace itemdb::tools
