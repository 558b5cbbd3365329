#include "storage/imports/imports.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "spdlog/spdlog.h"
#include "storage/base/hex.h"
#include "storage/base/limits.h"
#include "storage/base/table_arn.h"
#include "storage/base/uuid.h"
#include "storage/buckets/bucket.h"
#include "storage/catalog/catalog.h"
#include "storage/imports/export_check.h"
#include "storage/imports/import_report.h"
#include "storage/imports/import_request.h"
#include "storage/loading/table_restores.h"
#include "storage/schema/import_records.h"
#include "storage/schema/restoring_tables.h"
#include "storage/schema/table_changes.h"
#include "storage/values/utf8.h"

namespace itemdb::storage {
namespace {

constexpr size_t kMaxWaitingImports = 1'000;
constexpr int64_t kDayOfImportsMs = int64_t{24} * 60 * 60 * 1'000;
// The service's tokens have a multiple of 16 hexadecimal digits, and at least 112.
constexpr size_t kImportTokenDigits = 112;

int64_t ImportClockMs(const Engine& engine) {
  return const_cast<Engine&>(engine).time_of_day().NowMicros() / 1'000;
}

absl::Status ImportNotFoundError(std::string_view arn) {
  return WithRule("IMP-21", MakeError(absl::StatusCode::kNotFound, kReasonImportNotFound,
                                      "Import not found: " + std::string(arn)));
}

std::string EncodeImportToken(const std::string& id) {
  std::string token = absl::BytesToHexString(id);
  token.resize(kImportTokenDigits, '0');
  return token;
}

absl::StatusOr<std::string> DecodeImportToken(const std::string& token) {
  constexpr size_t kIdBytes = 23;
  const bool is_hex = token.size() == kImportTokenDigits &&
                      std::all_of(token.begin(), token.end(),
                                  [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  std::string id = is_hex ? FromHex(std::string_view(token).substr(0, 2 * kIdBytes)) : "";
  if (!IsArnId(id)) return ValidationError("IMP-22", "Invalid Request: Provided nextToken is invalid");
  return id;
}

// The items of an import. The commit that shows the table ends the import.
class SourceOfImport final : public ItemSource {
 public:
  SourceOfImport(Engine& engine, std::unique_ptr<ItemSource> items, v1::ImportDescription import)
      : engine_(engine), items_(std::move(items)), import_(std::move(import)) {}

  absl::StatusOr<bool> Next(Item* item) override { return items_->Next(item); }
  void AppendRecords(CommitGroup& group) override {
    import_.set_end_time_ms(ImportClockMs(engine_));
    PutImport(import_, group);
  }

 private:
  Engine& engine_;
  const std::unique_ptr<ItemSource> items_;
  v1::ImportDescription import_;
};

void SetOutcome(v1::ImportDescription* import) {
  import->set_import_status(import->error_count() == 0 ? v1::IMPORT_STATUS_COMPLETED
                                                       : v1::IMPORT_STATUS_FAILED);
  if (import->error_count() == 0) return;
  // IMP-13.
  import->set_failure_code("ItemValidationError");
  import->set_failure_message(
      "Some of the items failed validation checks and were not imported. The file imports/" +
      ImportIdOf(*import) + ".jsonl in the data directory says which.");
}

void SetCounts(const ImportProgress& progress, v1::ImportDescription* import) {
  import->set_processed_size_bytes(progress.file_bytes);
  import->set_processed_item_count(progress.processed_items);
  import->set_imported_item_count(progress.imported_items);
  import->set_error_count(progress.errors);
}

// The checks of a new import against the state of the database (IMP-06, IMP-24).
absl::Status CheckNewTable(const ReadView& view, const std::string& name) {
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<v1::RestoringTable> others, FindRestoringTables(view));
  const bool is_being_made = std::any_of(others.begin(), others.end(), [&](const auto& other) {
    return other.definition().table_name() == name;
  });
  if (is_being_made || view.catalog().FindByName(name) != nullptr) {
    return WithRule("IMP-06", MakeError(absl::StatusCode::kAlreadyExists, kReasonResourceInUse,
                                        "Table already exists: " + name));
  }
  const auto imports = static_cast<size_t>(std::count_if(
      others.begin(), others.end(), [](const auto& other) { return !other.import_id().empty(); }));
  if (imports >= kMaxRunningImports) {
    return WithRule("IMP-24",
                    MakeError(absl::StatusCode::kResourceExhausted, kReasonLimitExceeded,
                              "Subscriber limit exceeded: Only " + std::to_string(kMaxRunningImports) +
                                  " imports can run simultaneously"));
  }
  if (view.catalog().size() + others.size() >= static_cast<size_t>(kMaxTables)) {
    return WithRule("SEM-094", MakeError(absl::StatusCode::kResourceExhausted, kReasonLimitExceeded,
                                         "there are " + std::to_string(kMaxTables) +
                                             " tables already, which is the limit"));
  }
  return absl::OkStatus();
}

// The import that runs and has this token; nullopt: there is none.
absl::StatusOr<std::optional<v1::ImportDescription>> FindByToken(const ReadView& view,
                                                                 const std::string& token) {
  if (token.empty()) return std::nullopt;
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<v1::RestoringTable> tables, FindRestoringTables(view));
  for (const v1::RestoringTable& table : tables) {
    if (table.import_id().empty()) continue;
    ITEMDB_ASSIGN_OR_RETURN(std::optional<v1::ImportDescription> import, FindImport(view, table.import_id()));
    if (import.has_value() && import->client_token() == token) return import;
  }
  return std::nullopt;
}

}  // namespace

Imports::Imports(Engine& engine) : engine_(engine), calls_(/*threads=*/1, kMaxWaitingImports) {}

void Imports::ImportTable(v1::ImportTableRequest request, Done<v1::ImportTableReply> done) {
  auto shared_done = std::make_shared<Done<v1::ImportTableReply>>(std::move(done));
  IoPool::Task task = [this, request = std::move(request), shared_done] {
    absl::StatusOr<v1::ImportTableReply> reply = Import(request);
    std::move (*shared_done)(std::move(reply));
  };
  if (!calls_.Submit(task, IoPriority::kLong)) std::move (*shared_done)(IoPoolFullError());
}

absl::StatusOr<v1::ImportTableReply> Imports::Import(const v1::ImportTableRequest& request) {
  ITEMDB_ASSIGN_OR_RETURN(v1::ImportDescription import, ImportFromRequest(request));
  v1::RestoringTable table;
  ITEMDB_ASSIGN_OR_RETURN(*table.mutable_definition(),
                          DefinitionFromRequest(request.table_creation_parameters()));
  v1::ImportTableReply reply;
  {
    ITEMDB_ASSIGN_OR_RETURN(const auto view, engine_.View());
    ITEMDB_ASSIGN_OR_RETURN(std::optional<v1::ImportDescription> running,
                            FindByToken(*view, request.client_token()));
    if (running.has_value()) {
      // IMP-07.
      if (!HasSameParameters(*running, import)) {
        return WithRule("IMP-07",
                        MakeError(absl::StatusCode::kFailedPrecondition, kReasonImportConflict,
                                  "Import conflict: Duplicate request detected with conflicting parameters"));
      }
      AddProgress(&*running);
      *reply.mutable_import() = *std::move(running);
      return reply;
    }
  }
  DeleteExpired();
  const std::string& name = table.definition().table_name();
  const int64_t now_ms = ImportClockMs(engine_);
  table.set_import_id(absl::StrFormat("%014d-%s", now_ms, NewUuid().substr(0, 8)));
  import.set_import_arn(ImportArnOf(name, table.import_id()));
  import.set_import_status(v1::IMPORT_STATUS_IN_PROGRESS);
  import.set_table_arn(TableArn(name));
  import.set_start_time_ms(now_ms);
  if (import.client_token().empty()) import.set_client_token(NewUuid());
  ITEMDB_RETURN_IF_ERROR(BeginTable(
                             engine_, table, [&](const ReadView& view) { return CheckNewTable(view, name); },
                             [&](const v1::RestoringTable& begun, CommitGroup& group) {
                               import.set_table_id(begun.definition().table_id());
                               PutImport(import, group);
                             })
                             .status());
  *reply.mutable_import() = std::move(import);
  return reply;
}

void Imports::AddProgress(v1::ImportDescription* import) const {
  if (import->import_status() != v1::IMPORT_STATUS_IN_PROGRESS) return;
  MutexLock lock(mutex_);
  if (current_id_ == ImportIdOf(*import)) SetCounts(*progress_, import);
}

bool Imports::IsExpired(const v1::ImportDescription& import) const {
  return import.end_time_ms() != 0 &&
         import.end_time_ms() + kImportDays * kDayOfImportsMs < ImportClockMs(engine_);
}

void Imports::DeleteExpired() {
  const auto view = engine_.View();
  if (!view.ok()) return;
  const auto imports = FindImports(**view);
  if (!imports.ok()) return;
  std::vector<std::string> expired;
  for (const v1::ImportDescription& import : *imports)
    if (IsExpired(import)) expired.push_back(ImportIdOf(import));
  if (expired.empty()) return;
  const absl::Status deleted = CommitAndWait(engine_, [&](CommitGroup& group) {
                                 for (const std::string& id : expired) DeleteImport(id, group);
                                 return absl::OkStatus();
                               }).status();
  // Otherwise the next import tries again.
  if (!deleted.ok()) return;
  for (const std::string& id : expired)
    (void)rocksdb::Env::Default()->DeleteFile(ImportReportPath(engine_.options().data_directory, id));
}

absl::StatusOr<v1::DescribeImportReply> Imports::DescribeImport(const v1::DescribeImportRequest& request) {
  ITEMDB_ASSIGN_OR_RETURN(const ImportArn arn, ParseImportArn(request.import_arn()));
  ITEMDB_ASSIGN_OR_RETURN(const auto view, engine_.View());
  ITEMDB_ASSIGN_OR_RETURN(std::optional<v1::ImportDescription> import, FindImport(*view, arn.import_id));
  if (!import.has_value() || import->import_arn() != request.import_arn() || IsExpired(*import))
    return ImportNotFoundError(request.import_arn());
  AddProgress(&*import);
  v1::DescribeImportReply reply;
  *reply.mutable_import() = *std::move(import);
  return reply;
}

absl::StatusOr<v1::ListImportsReply> Imports::ListImports(
    const v1::ListImportsRequest& request, const std::function<bool(std::string_view table_name)>& shows) {
  const int limit = request.has_page_size() ? request.page_size() : kDefaultListImports;
  if (limit < 1 || limit > kMaxListImports) {
    return ValidationError("IMP-22", "PageSize must be 1 to " + std::to_string(kMaxListImports) + "; it is " +
                                         std::to_string(limit));
  }
  std::string before;
  if (!request.next_token().empty()) {
    ITEMDB_ASSIGN_OR_RETURN(before, DecodeImportToken(request.next_token()));
  }
  const std::string_view table = TableNameOf(request.table_arn());
  ITEMDB_ASSIGN_OR_RETURN(const auto view, engine_.View());
  ITEMDB_ASSIGN_OR_RETURN(std::vector<v1::ImportDescription> imports, FindImports(*view));
  v1::ListImportsReply reply;
  std::string last_id;
  for (auto import = imports.rbegin(); import != imports.rend(); ++import) {
    const std::string_view name = TableNameOf(import->table_arn());
    const std::string id = ImportIdOf(*import);
    if ((!before.empty() && id >= before) || IsExpired(*import) || (!table.empty() && name != table) ||
        (shows != nullptr && !shows(name)))
      continue;
    if (reply.imports_size() == limit) {
      reply.set_next_token(EncodeImportToken(last_id));
      break;
    }
    AddProgress(&*import);
    *reply.add_imports() = std::move(*import);
    last_id = id;
  }
  return reply;
}

absl::StatusOr<std::unique_ptr<ItemSource>> Imports::OpenSource(const v1::RestoringTable& table,
                                                                const std::string& directory,
                                                                const Cancellation& cancellation) {
  std::optional<v1::ImportDescription> import;
  {
    ITEMDB_ASSIGN_OR_RETURN(const auto view, engine_.View());
    ITEMDB_ASSIGN_OR_RETURN(import, FindImport(*view, table.import_id()));
  }
  if (!import.has_value()) return DataLossError("the record of import " + table.import_id() + " is missing");
  const auto progress = std::make_shared<ImportProgress>();
  {
    MutexLock lock(mutex_);
    current_id_ = table.import_id();
    progress_ = progress;
  }
  const ImportSettings settings{.import_id = table.import_id(),
                                .import = *import,
                                .definition = table.definition(),
                                .directory = directory};
  ITEMDB_ASSIGN_OR_RETURN(std::unique_ptr<ItemSource> items,
                          ReadImport(engine_, settings, cancellation, progress.get()));
  SetCounts(*progress, &*import);
  SetOutcome(&*import);
  if (import->error_count() > 0) {
    engine_.options().log->warn("an import has errors import={} errors={}", import->import_arn(),
                                import->error_count());
  }
  return std::make_unique<SourceOfImport>(engine_, std::move(items), *std::move(import));
}

absl::StatusOr<std::function<void(CommitGroup& group)>> Imports::PrepareFailure(
    const v1::RestoringTable& table, const absl::Status& error) const {
  const auto nothing = [](CommitGroup&) {};
  if (table.import_id().empty()) return nothing;
  ITEMDB_ASSIGN_OR_RETURN(const auto view, engine_.View());
  ITEMDB_ASSIGN_OR_RETURN(std::optional<v1::ImportDescription> import, FindImport(*view, table.import_id()));
  if (!import.has_value()) return nothing;
  AddProgress(&*import);
  import->set_import_status(v1::IMPORT_STATUS_FAILED);
  // There is no table.
  import->set_imported_item_count(0);
  import->set_end_time_ms(ImportClockMs(engine_));
  import->set_failure_code(ReasonOf(error) == kReasonExportNotWhole
                               ? kExportNotWholeCode
                               : BucketFailureCode(error, "InternalServerError"));
  import->set_failure_message(EscapedUtf8(MessageOf(error)));
  return [import = *std::move(import)](CommitGroup& group) { PutImport(import, group); };
}

}  // namespace itemdb::storage
