#include "storage/database.h"

#include <algorithm>

#include "storage/backup/archive_upkeep.h"
#include "storage/backup/backup_calls.h"
#include "storage/backup/backup_operations.h"
#include "storage/backup/backup_schedule.h"
#include "storage/backup/table_backups.h"
#include "storage/base/limits.h"
#include "storage/base/table_arn.h"
#include "storage/bulk_puts/bulk_puts.h"
#include "storage/catalog/catalog.h"
#include "storage/changes/change_holds.h"
#include "storage/changes/read_changes.h"
#include "storage/changes/shard_iterator.h"
#include "storage/changes/stream_names.h"
#include "storage/changes/streams.h"
#include "storage/changes/trimmer.h"
#include "storage/changes/watch.h"
#include "storage/earlier_items.h"
#include "storage/engine/commit_and_wait.h"
#include "storage/engine/engine.h"
#include "storage/engine/file_check.h"
#include "storage/engine/key_rotation.h"
#include "storage/engine/list_damage.h"
#include "storage/exports/table_exports.h"
#include "storage/imports/imports.h"
#include "storage/indexes/background_check.h"
#include "storage/indexes/check.h"
#include "storage/indexes/discard.h"
#include "storage/indexes/index_builds.h"
#include "storage/indexes/rebuild.h"
#include "storage/items/bulk_write.h"
#include "storage/items/expiry_sweeper.h"
#include "storage/items/operations.h"
#include "storage/items/undo_changes.h"
#include "storage/loading/table_restores.h"
#include "storage/partiql/operations.h"
#include "storage/partiql/statement_access.h"
#include "storage/point_in_time.h"
#include "storage/primary_files.h"
#include "storage/prove_backup.h"
#include "storage/query/page.h"
#include "storage/restore.h"
#include "storage/schema/continuous_backups.h"
#include "storage/schema/contributor_insights.h"
#include "storage/schema/index_changes.h"
#include "storage/schema/restoring_tables.h"
#include "storage/schema/table_changes.h"
#include "storage/schema/time_to_live_changes.h"
#include "storage/scratch_folder.h"
#include "storage/standby/follower.h"
#include "storage/standby_base.h"
#include "storage/status.h"
#include "storage/vectors/search_vectors.h"

namespace itemdb::storage {
namespace {

// Whether the opened database follows another one; false if it was promoted, also if the options still name
// the archive. FAILED_PRECONDITION: the options do not fit the database.
absl::StatusOr<bool> FollowsAnother(Engine& engine) {
  ITEMDB_ASSIGN_OR_RETURN(const auto view, engine.View());
  ITEMDB_ASSIGN_OR_RETURN(const auto position, ReadStandbyPosition(*view->store()));
  const std::string& archive = engine.options().standby_archive;
  if (position.has_value() == !archive.empty()) return position.has_value();
  if (position.has_value()) {
    return MakeError(absl::StatusCode::kFailedPrecondition, kReasonStandby,
                     engine.options().data_directory +
                         " is a standby. Start itemd with --standby, and if it shall be the primary from now "
                         "on, then 'itemctl promote'");
  }
  ITEMDB_ASSIGN_OR_RETURN(const bool was_promoted, WasPromoted(*view->store()));
  if (was_promoted) return false;
  return MakeError(absl::StatusCode::kFailedPrecondition, kReasonDataDirectoryForeign,
                   engine.options().data_directory + " is no standby of " + archive +
                       ". A standby begins with an empty directory; a promoted one is started without "
                       "--standby");
}

// A database that was promoted begins an archive of its own, if the options name one or a table needs it.
absl::Status StartPromoted(Engine& engine) {
  ITEMDB_ASSIGN_OR_RETURN(const auto view, engine.View());
  bool needs_archive = !engine.options().archive_directory.empty();
  for (const auto& table : view->catalog()) needs_archive |= table->definition.has_point_in_time_recovery();
  return needs_archive ? engine.StartArchive() : absl::OkStatus();
}

}  // namespace

Database::Database(std::unique_ptr<Engine> engine, std::unique_ptr<Follower> follower)
    : segments_(std::make_unique<ScanSegments>(*engine)),
      vectors_(std::make_unique<VectorSearches>(*engine)),
      builds_(std::make_unique<IndexBuilds>(*engine)),
      table_backups_(std::make_unique<TableBackups>(
          *engine,
          [raw = engine.get()](const v1::RestoringTable& table, int64_t creation_time_ms) {
            return CheckPointInTime(*raw, table, creation_time_ms);
          })),
      imports_(std::make_unique<Imports>(*engine)),
      bulk_puts_(std::make_unique<BulkPuts>(*engine)),
      earlier_items_(std::make_unique<EarlierItems>(*engine)),
      restores_(std::make_unique<TableRestores>(
          *engine,
          [this, raw = engine.get()](const v1::RestoringTable& table, const Cancellation& cancellation)
              -> absl::StatusOr<std::unique_ptr<ItemSource>> {
            if (!table.import_id().empty())
              return imports_->OpenSource(table, restores_->directory(), cancellation);
            if (table.source_storage_id() == 0) return table_backups_->OpenSource(table);
            ITEMDB_ASSIGN_OR_RETURN(PointInTime opened,
                                    OpenPointInTimeSource(*raw, table, kPointInTimeFolder, cancellation));
            return std::move(opened.source);
          },
          [this](const v1::RestoringTable& table, const absl::Status& error) {
            return imports_->PrepareFailure(table, error);
          })),
      exports_(std::make_unique<TableExports>(
          *engine,
          [raw = engine.get()](const v1::RestoringTable& table, TableExports::State state,
                               const Cancellation& cancellation) {
            const char* folder = state == TableExports::State::kFrom ? kExportFromFolder : kExportFolder;
            return OpenPointInTimeSource(*raw, table, folder, cancellation);
          })),
      engine_(std::move(engine)),
      trimmer_(std::make_unique<ChangeTrimmer>(*engine_)),
      background_check_(std::make_unique<BackgroundCheck>(*engine_)),
      file_check_(std::make_unique<FileCheck>(*engine_)),
      key_rotation_(std::make_unique<KeyRotation>(*engine_)),
      follower_(std::move(follower)) {
  DeleteScratchFolders(*engine_);
  if (follower_ == nullptr) {
    StartPrimaryWork();
  } else {
    VectorCopies* const copies = &vectors_->copies();
    engine_->SetOnReopened([copies] { copies->ForgetAll(); });
    follower_->SetOnSilentChanges(
        [copies](const std::vector<uint64_t>& storage_ids) { copies->Forget(storage_ids); });
  }
}

void Database::StartPrimaryWork() {
  sweeper_ = std::make_unique<ExpirySweeper>(*engine_);
  backup_schedule_ = std::make_unique<BackupSchedule>(
      *engine_, [raw = engine_.get()](const v1::DatabaseBackup& backup, const CancellationPtr& cancellation) {
        return ProveScheduledBackup(*raw, backup, cancellation);
      });
  archive_upkeep_ = std::make_unique<ArchiveUpkeep>(*engine_);
  // A table change that was answered with an error may turn out to be applied once the store is open again.
  // It may have created an index that needs a backfill, deleted a table or begun to restore one.
  engine_->SetOnReopened([builds = builds_.get(), backups = table_backups_.get(), restores = restores_.get(),
                          exports = exports_.get(), bulk_puts = bulk_puts_.get(), vectors = vectors_.get()] {
    // They are counted in the block cache of the store that was closed.
    vectors->copies().ForgetAll();
    builds->Poll();
    backups->Poll();
    restores->Poll();
    exports->Poll();
    bulk_puts->Poll();
  });
  builds_->Start();
  table_backups_->Start();
  restores_->Start();
  exports_->Start();
  bulk_puts_->Start();
  is_primary_ = true;
}

Database::~Database() {
  // A promotion may be running.
  engine_->StopDdl();
  follower_.reset();
  earlier_items_->Stop();
  vectors_->Stop();
  exports_->Stop();
  bulk_puts_->Stop();
  builds_->Stop();
  imports_->Stop();
  restores_->Stop();
  table_backups_->Stop();
}

absl::StatusOr<std::unique_ptr<Database>> Database::Open(DatabaseOptions options) {
  if (!options.standby_archive.empty()) ITEMDB_RETURN_IF_ERROR(PrepareStandby(options, Cancellation()));
  ITEMDB_ASSIGN_OR_RETURN(auto engine, Engine::Open(std::move(options)));
  ITEMDB_ASSIGN_OR_RETURN(const bool is_standby, FollowsAnother(*engine));
  if (engine->needs_rebuild()) ITEMDB_RETURN_IF_ERROR(RebuildDerived(*engine));
  IoPool::Task finish = [engine = engine.get()] { engine->StartBackgroundWork(); };
  (void)engine->SubmitDdl(finish);  // Cannot be refused: the DDL queue is still empty.
  std::unique_ptr<Follower> follower;
  if (is_standby) {
    follower = std::make_unique<Follower>(
        *engine,
        [raw = engine.get()](const Cancellation& cancellation) {
          return MakeStandbyBase(raw->options(), cancellation);
        },
        [raw = engine.get()] {
          return InstallStandbyBase(raw->environment(), raw->options(), raw->database_id());
        });
    follower->Start();
  } else if (!engine->options().standby_archive.empty()) {
    ITEMDB_RETURN_IF_ERROR(StartPromoted(*engine));
  }
  return std::unique_ptr<Database>(new Database(std::move(engine), std::move(follower)));
}

void Database::Promote(v1::PromoteRequest request, Done<v1::PromoteReply> done) {
  auto shared_done = std::make_shared<Done<v1::PromoteReply>>(std::move(done));
  IoPool::Task task = [this, force = request.force(), shared_done] {
    std::move (*shared_done)(PromoteNow(force));
  };
  if (!engine_->SubmitDdl(task)) std::move (*shared_done)(IoPoolFullError());
}

absl::StatusOr<v1::PromoteReply> Database::PromoteNow(bool force) {
  if (follower_ == nullptr) {
    return MakeError(absl::StatusCode::kFailedPrecondition, kReasonValidation,
                     "this database is no standby: itemd was started without --standby");
  }
  v1::PromoteReply reply;
  ITEMDB_ASSIGN_OR_RETURN(const uint64_t change_sequence, follower_->Promote(force));
  reply.set_change_sequence(change_sequence);
  // Indexes that the primary was creating may have entries under their ids.
  engine_->CountAllAsFromBeforeOpening();
  // The database takes writes, whatever becomes of its archive.
  if (absl::Status archived = StartPromoted(*engine_); !archived.ok())
    engine_->options().log->error("the archive could not be begun error={}", MessageOf(archived));
  StartPrimaryWork();
  engine_->RefuseWrites(absl::OkStatus());
  return reply;
}

uint64_t Database::durable_sequence() const { return engine_->durable_sequence(); }

void Database::EndStandbyWaits() const {
  if (engine_->archive() != nullptr) engine_->archive()->acknowledgements().Close();
}

void Database::FollowNow(bool anew) const {
  if (IsStandby()) follower_->FollowNow(anew);
}

absl::StatusOr<std::optional<v1::StandbyPromotion>> Database::FindOwnPromotion() const {
  // It may have been promoted over in turn.
  if (!IsStandby() && ReasonOf(engine_->WriteRefusal()) == kReasonFenced) return std::nullopt;
  ITEMDB_ASSIGN_OR_RETURN(const auto promotion,
                          ReadPromotion(engine_->env(), engine_->options().standby_archive));
  if (!promotion.has_value() || promotion->database_id != engine_->database_id()) return std::nullopt;
  return ToMessage(*promotion);
}

void Database::OtherWasPromoted(const v1::StandbyPromotion& promotion) const {
  const std::string& archive = engine_->options().standby_archive;
  const auto known = ReadPromotion(engine_->env(), archive);
  if (known.ok() && !known->has_value())
    (void)WritePromotion(engine_->env(), archive, FromMessage(promotion));
}

void Database::ListReplicationFiles(v1::ListReplicationFilesRequest request,
                                    Done<v1::ListReplicationFilesReply> done) {
  const uint64_t copied = request.copied_version();
  const bool waits = request.wait() && copied != 0;
  auto shared_done = std::make_shared<Done<v1::ListReplicationFilesReply>>(std::move(done));
  auto list = [this, request = std::move(request), shared_done] {
    RunOnIoThread<v1::ListReplicationFilesReply>(
        *engine_, IoPriority::kLong,
        [this, request] { return storage::ListReplicationFiles(*engine_, request); },
        std::move(*shared_done));
  };
  CommitArchive* const archive = engine_->archive();
  if (archive == nullptr) return list();
  if (copied != 0) archive->acknowledgements().Acknowledge(copied);
  if (!waits) return list();
  archive->acknowledgements().WhenChanged(copied, std::move(list));
}

void Database::ReadReplicationFile(v1::ReadReplicationFileRequest request,
                                   Done<v1::ReadReplicationFileReply> done) {
  RunOnIoThread<v1::ReadReplicationFileReply>(
      *engine_, IoPriority::kLong,
      [this, request = std::move(request)] { return storage::ReadReplicationFile(*engine_, request); },
      std::move(done));
}

void Database::FencePrimary(v1::FencePrimaryRequest request, Done<v1::FencePrimaryReply> done) {
  RunOnIoThread<v1::FencePrimaryReply>(
      *engine_, IoPriority::kPoint,
      [this, request = std::move(request)] { return storage::FencePrimary(*engine_, request); },
      std::move(done));
}

absl::Status Database::FlushBeforeStop(std::chrono::milliseconds timeout, const Cancellation& cancellation) {
  return engine_->FlushBeforeStop(timeout, cancellation);
}

void Database::CreateTable(v1::CreateTableRequest request, Done<v1::CreateTableReply> done) {
  storage::CreateTable(*engine_, std::move(request), std::move(done));
}

void Database::DeleteTable(v1::DeleteTableRequest request, Done<v1::DeleteTableReply> done) {
  storage::DeleteTable(*engine_, std::move(request),
                       [this, done = std::move(done)](absl::StatusOr<v1::DeleteTableReply> reply) mutable {
                         table_backups_->Poll();
                         vectors_->copies().ForgetDeleted();
                         std::move(done)(std::move(reply));
                       });
}

void Database::UpdateTable(v1::UpdateTableRequest request, Done<v1::UpdateTableReply> done) {
  storage::UpdateTable(*engine_, std::move(request),
                       [this, done = std::move(done)](absl::StatusOr<v1::UpdateTableReply> reply) mutable {
                         builds_->Poll();
                         vectors_->copies().ForgetDeleted();
                         std::move(done)(std::move(reply));
                       });
}

void Database::TagTable(v1::TagTableRequest request, Done<v1::TagTableReply> done) {
  storage::TagTable(*engine_, std::move(request), std::move(done));
}

void Database::UntagTable(v1::UntagTableRequest request, Done<v1::UntagTableReply> done) {
  storage::UntagTable(*engine_, std::move(request), std::move(done));
}

void Database::UpdateTimeToLive(v1::UpdateTimeToLiveRequest request, Done<v1::UpdateTimeToLiveReply> done) {
  storage::UpdateTimeToLive(
      *engine_, std::move(request),
      [this, done = std::move(done)](absl::StatusOr<v1::UpdateTimeToLiveReply> reply) mutable {
        builds_->Poll();
        std::move(done)(std::move(reply));
      });
}

absl::StatusOr<v1::DescribeTimeToLiveReply> Database::DescribeTimeToLive(
    const v1::DescribeTimeToLiveRequest& request) {
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine_->View());
  ITEMDB_ASSIGN_OR_RETURN(auto table, view->catalog().Find(request.table_name()));
  v1::DescribeTimeToLiveReply reply;
  reply.set_change_sequence(view->change_sequence());
  if (is_primary_) reply.set_items_expired(sweeper_->Expired(table->storage_id));
  const Index* index = table->FindTimeToLiveIndex();
  if (index == nullptr) {
    reply.set_time_to_live_status(v1::TIME_TO_LIVE_STATUS_DISABLED);
    return reply;
  }
  reply.set_attribute_name(index->partition[0].name);
  if (index->state != IndexState::kActive) {
    reply.set_time_to_live_status(v1::TIME_TO_LIVE_STATUS_ENABLING);
    *reply.mutable_build() = builds_->Describe(index->storage_id);
    return reply;
  }
  reply.set_time_to_live_status(v1::TIME_TO_LIVE_STATUS_ENABLED);
  ITEMDB_ASSIGN_OR_RETURN(SizeStatistics items,
                          FindStatistics(engine_->size_statistics(), *view, index->storage_id));
  reply.set_items_with_time(items.items);
  return reply;
}

v1::DescribeLimitsReply Database::DescribeLimits() const {
  v1::DescribeLimitsReply reply;
  reply.set_account_max_read_capacity_units(kAccountCapacityUnits);
  reply.set_account_max_write_capacity_units(kAccountCapacityUnits);
  reply.set_table_max_read_capacity_units(kTableCapacityUnits);
  reply.set_table_max_write_capacity_units(kTableCapacityUnits);
  return reply;
}

absl::StatusOr<v1::DescribeTableReply> Database::DescribeTable(const v1::DescribeTableRequest& request) {
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine_->View());
  v1::DescribeTableReply reply;
  reply.set_change_sequence(view->change_sequence());
  const absl::StatusOr<std::shared_ptr<const Table>> table = view->catalog().Find(request.table_name());
  if (!table.ok()) {
    if (!absl::IsNotFound(table.status())) return table.status();
    ITEMDB_ASSIGN_OR_RETURN(const auto restoring,
                            FindRestoringTable(*view, storage::TableNameOf(request.table_name())));
    if (!restoring.has_value()) return restores_->ExplainMissing(request.table_name(), table.status());
    *reply.mutable_table() = DescribeRestoringTable(*restoring);
    restores_->Describe(reply.mutable_table());
    return reply;
  }
  ITEMDB_ASSIGN_OR_RETURN(*reply.mutable_table(), storage::DescribeTable(*engine_, *view, **table));
  builds_->Describe(reply.mutable_table());
  return reply;
}

absl::StatusOr<v1::ListTablesReply> Database::ListTables(
    const v1::ListTablesRequest& request, const std::function<bool(std::string_view name)>& shows) {
  int limit = request.has_limit() ? request.limit() : kMaxListTables;
  if (limit < 1 || limit > kMaxListTables) {
    return ValidationError(
        "OP-04", "Limit must be 1 to " + std::to_string(kMaxListTables) + "; it is " + std::to_string(limit));
  }
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine_->View());
  v1::ListTablesReply reply;
  reply.set_change_sequence(view->change_sequence());
  const Catalog& catalog = view->catalog();
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<v1::RestoringTable> restoring, FindRestoringTables(*view));
  auto restored = restoring.begin();
  // False: the page is full.
  const auto add = [&](const std::string& name) {
    if (name <= request.exclusive_start_table_name() || (shows != nullptr && !shows(name))) return true;
    if (reply.table_names_size() == limit) {
      reply.set_last_evaluated_table_name(reply.table_names(limit - 1));
      return false;
    }
    reply.add_table_names(name);
    return true;
  };
  for (auto it = catalog.UpperBound(request.exclusive_start_table_name()); it != catalog.end(); ++it) {
    for (; restored != restoring.end() && restored->definition().table_name() < (*it)->name; ++restored)
      if (!add(restored->definition().table_name())) return reply;
    if (!add((*it)->name)) return reply;
  }
  for (; restored != restoring.end(); ++restored)
    if (!add(restored->definition().table_name())) break;
  return reply;
}

void Database::CreateBackup(v1::CreateBackupRequest request, Done<v1::CreateBackupReply> done) {
  if (absl::Status refused = CheckPrimary(); !refused.ok()) return std::move(done)(std::move(refused));
  table_backups_->CreateBackup(std::move(request), std::move(done));
}

void Database::DescribeBackup(v1::DescribeBackupRequest request, Done<v1::DescribeBackupReply> done) {
  table_backups_->DescribeBackup(std::move(request), std::move(done));
}

void Database::ListBackups(v1::ListBackupsRequest request, Done<v1::ListBackupsReply> done,
                           std::function<bool(std::string_view table_name)> shows) {
  table_backups_->ListBackups(std::move(request), std::move(shows), std::move(done));
}

void Database::DeleteBackup(v1::DeleteBackupRequest request, Done<v1::DeleteBackupReply> done) {
  if (absl::Status refused = CheckPrimary(); !refused.ok()) return std::move(done)(std::move(refused));
  table_backups_->DeleteBackup(std::move(request), std::move(done));
}

void Database::RestoreTableFromBackup(v1::RestoreTableFromBackupRequest request,
                                      Done<v1::RestoreTableFromBackupReply> done) {
  if (absl::Status refused = CheckPrimary(); !refused.ok()) return std::move(done)(std::move(refused));
  table_backups_->RestoreTableFromBackup(
      std::move(request),
      [this, done = std::move(done)](absl::StatusOr<v1::RestoreTableFromBackupReply> reply) mutable {
        restores_->Poll();
        std::move(done)(std::move(reply));
      });
}

void Database::RestoreTableToPointInTime(v1::RestoreTableToPointInTimeRequest request,
                                         Done<v1::RestoreTableToPointInTimeReply> done) {
  if (absl::Status refused = CheckPrimary(); !refused.ok()) return std::move(done)(std::move(refused));
  table_backups_->RestoreTableToPointInTime(
      std::move(request),
      [this, done = std::move(done)](absl::StatusOr<v1::RestoreTableToPointInTimeReply> reply) mutable {
        restores_->Poll();
        std::move(done)(std::move(reply));
      });
}

absl::StatusOr<v1::DescribeContinuousBackupsReply> Database::DescribeContinuousBackups(
    const v1::DescribeContinuousBackupsRequest& request) {
  return storage::DescribeContinuousBackups(*engine_, request);
}

void Database::UpdateContinuousBackups(v1::UpdateContinuousBackupsRequest request,
                                       Done<v1::UpdateContinuousBackupsReply> done) {
  const std::string table_name = request.table_name();
  storage::UpdateContinuousBackups(
      *engine_, std::move(request),
      [this, table_name,
       done = std::move(done)](absl::StatusOr<v1::UpdateContinuousBackupsReply> reply) mutable {
        if (!reply.ok() || !reply->continuous_backups().point_in_time_recovery_enabled() ||
            reply->continuous_backups().latest_restorable_time_ms() != 0 || !is_primary_)
          return std::move(done)(std::move(reply));
        // Programs read the times of the reply.
        auto shared = std::make_shared<std::pair<v1::UpdateContinuousBackupsReply, decltype(done)>>(
            *std::move(reply), std::move(done));
        archive_upkeep_->WhenRestorable([this, table_name, shared] {
          v1::DescribeContinuousBackupsRequest describe;
          describe.set_table_name(table_name);
          if (auto now = storage::DescribeContinuousBackups(*engine_, describe);
              now.ok() && now->continuous_backups().point_in_time_recovery_enabled())
            *shared->first.mutable_continuous_backups() = std::move(*now->mutable_continuous_backups());
          std::move(shared->second)(std::move(shared->first));
        });
      });
}

void Database::ExportTableToPointInTime(v1::ExportTableToPointInTimeRequest request,
                                        Done<v1::ExportTableToPointInTimeReply> done) {
  if (absl::Status refused = CheckPrimary(); !refused.ok()) return std::move(done)(std::move(refused));
  exports_->ExportTableToPointInTime(std::move(request), std::move(done));
}

void Database::DescribeExport(v1::DescribeExportRequest request, Done<v1::DescribeExportReply> done) {
  exports_->DescribeExport(std::move(request), std::move(done));
}

void Database::ListExports(v1::ListExportsRequest request, Done<v1::ListExportsReply> done,
                           std::function<bool(std::string_view table_name)> shows) {
  exports_->ListExports(std::move(request), std::move(shows), std::move(done));
}

void Database::ImportTable(v1::ImportTableRequest request, Done<v1::ImportTableReply> done) {
  if (absl::Status refused = CheckPrimary(); !refused.ok()) return std::move(done)(std::move(refused));
  imports_->ImportTable(std::move(request),
                        [this, done = std::move(done)](absl::StatusOr<v1::ImportTableReply> reply) mutable {
                          restores_->Poll();
                          std::move(done)(std::move(reply));
                        });
}

absl::StatusOr<v1::DescribeImportReply> Database::DescribeImport(const v1::DescribeImportRequest& request) {
  return imports_->DescribeImport(request);
}

void Database::StartBulkPutItems(v1::StartBulkPutItemsRequest request,
                                 Done<v1::StartBulkPutItemsReply> done) {
  bulk_puts_->StartBulkPutItems(std::move(request), std::move(done));
}

void Database::CancelBulkOperation(v1::CancelBulkOperationRequest request,
                                   Done<v1::CancelBulkOperationReply> done) {
  bulk_puts_->CancelBulkOperation(std::move(request), std::move(done));
}

absl::StatusOr<v1::DescribeBulkOperationReply> Database::DescribeBulkOperation(
    const v1::DescribeBulkOperationRequest& request) {
  return bulk_puts_->DescribeBulkOperation(request);
}

absl::StatusOr<v1::ListBulkOperationsReply> Database::ListBulkOperations(
    const v1::ListBulkOperationsRequest& request,
    const std::function<bool(std::string_view table_name)>& shows) {
  return bulk_puts_->ListBulkOperations(request, shows);
}

absl::StatusOr<v1::ListImportsReply> Database::ListImports(
    const v1::ListImportsRequest& request, const std::function<bool(std::string_view table_name)>& shows) {
  return imports_->ListImports(request, shows);
}

void Database::PutItem(const wire::WriteItemRequest& request, Done<wire::WriteItemReply> done,
                       CancellationPtr cancellation) {
  WriteItem(*engine_, ActionKind::kPut, request, std::move(done), std::move(cancellation));
}

void Database::UpdateItem(const wire::WriteItemRequest& request, Done<wire::WriteItemReply> done,
                          CancellationPtr cancellation) {
  WriteItem(*engine_, ActionKind::kUpdate, request, std::move(done), std::move(cancellation));
}

void Database::DeleteItem(const wire::WriteItemRequest& request, Done<wire::WriteItemReply> done,
                          CancellationPtr cancellation) {
  WriteItem(*engine_, ActionKind::kDelete, request, std::move(done), std::move(cancellation));
}

void Database::BatchWriteItem(const wire::BatchWriteItemRequest& request,
                              Done<wire::BatchWriteItemReply> done, CancellationPtr cancellation) {
  storage::BatchWriteItem(*engine_, request, std::move(done), std::move(cancellation));
}

void Database::TransactWriteItems(const wire::TransactWriteItemsRequest& request,
                                  Done<wire::TransactWriteItemsReply> done, CancellationPtr cancellation) {
  storage::TransactWriteItems(*engine_, request, std::move(done), std::move(cancellation));
}

std::shared_ptr<BulkWrites> Database::BeginBulkWrite() { return std::make_shared<BulkWrites>(*engine_); }

void Database::BulkWrite(BulkWrites& writes, const wire::BulkWriteChunk& chunk,
                         Done<wire::BulkWriteReply> done, CancellationPtr cancellation) {
  writes.Write(chunk, std::move(done), std::move(cancellation));
}

void Database::GetItem(const wire::GetItemRequest& request, Done<wire::GetItemReply> done,
                       CancellationPtr cancellation) {
  storage::GetItem(*engine_, request, std::move(done), std::move(cancellation));
}

void Database::BatchGetItem(wire::BatchGetItemRequest request, Done<wire::BatchGetItemReply> done,
                            CancellationPtr cancellation) {
  storage::BatchGetItem(*engine_, std::move(request), std::move(done), std::move(cancellation));
}

void Database::TransactGetItems(const wire::TransactGetItemsRequest& request,
                                Done<wire::TransactGetItemsReply> done, CancellationPtr cancellation) {
  storage::TransactGetItems(*engine_, request, std::move(done), std::move(cancellation));
}

void Database::ExecuteStatement(const wire::ExecuteStatementRequest& request, Done<StatementPage> done,
                                CancellationPtr cancellation) {
  storage::ExecuteStatement(*engine_, request, std::move(done), std::move(cancellation));
}

void Database::BatchExecuteStatement(const wire::BatchExecuteStatementRequest& request,
                                     Done<wire::BatchExecuteStatementReply> done,
                                     CancellationPtr cancellation) {
  storage::BatchExecuteStatement(*engine_, request, std::move(done), std::move(cancellation));
}

void Database::ExecuteTransaction(const wire::ExecuteTransactionRequest& request,
                                  Done<wire::ExecuteTransactionReply> done, CancellationPtr cancellation) {
  storage::ExecuteTransaction(*engine_, request, std::move(done), std::move(cancellation));
}

bool Database::IsReadStatement(std::string_view statement) { return storage::IsReadStatement(statement); }

std::string_view Database::StatementAction(std::string_view statement) {
  return storage::StatementAction(statement);
}

std::string Database::TableNameInStatement(std::string_view statement) {
  return storage::TableNameInStatement(statement);
}

std::string_view Database::TableNameOf(std::string_view name) { return storage::TableNameOf(name); }

absl::StatusOr<StatementTarget> Database::TargetOfStatement(
    std::string_view statement, const google::protobuf::RepeatedPtrField<std::string>& parameters) {
  return storage::TargetOfStatement(statement, parameters);
}

absl::StatusOr<std::string> Database::TableOfStreamArn(std::string_view arn) {
  ITEMDB_ASSIGN_OR_RETURN(StreamName name, ParseStreamArn(arn));
  return std::move(name.table_name);
}

absl::StatusOr<std::string> Database::TableOfShardIterator(std::string_view iterator) {
  return storage::TableOfShardIterator(iterator);
}

absl::StatusOr<std::string> Database::TableOfImportArn(std::string_view arn) {
  ITEMDB_ASSIGN_OR_RETURN(const ImportArn parsed, ParseImportArn(arn));
  return std::string(parsed.table_name);
}

absl::StatusOr<std::string> Database::TableOfBulkOperationArn(std::string_view arn) {
  ITEMDB_ASSIGN_OR_RETURN(const BulkOperationArn parsed, ParseBulkOperationArn(arn));
  return std::string(parsed.table_name);
}

absl::StatusOr<std::string> Database::TableOfBackupArn(std::string_view arn) {
  ITEMDB_ASSIGN_OR_RETURN(const BackupArn parsed, ParseBackupArn(arn));
  return std::string(parsed.table_name);
}

absl::StatusOr<std::string> Database::TableOfExportArn(std::string_view arn) {
  ITEMDB_ASSIGN_OR_RETURN(const ExportArn parsed, ParseExportArn(arn));
  return std::string(parsed.table_name);
}

void Database::Query(const wire::PageRequest& request, Done<Page> done, CancellationPtr cancellation) {
  ReadPage(*engine_, *segments_, PageOperation::kQuery, engine_->View(), request, std::move(done),
           std::move(cancellation));
}

void Database::SearchVectors(const wire::SearchVectorsRequest& request, Done<wire::SearchVectorsReply> done,
                             CancellationPtr cancellation) {
  vectors_->SearchVectors(request, std::move(done), std::move(cancellation));
}

void Database::ServiceQuery(const wire::PageRequest& request, Done<Page> done, CancellationPtr cancellation) {
  ReadPage(*engine_, *segments_, PageOperation::kQuery, engine_->View(), request, std::move(done),
           std::move(cancellation), ConsistentIndexReads::kRefused);
}

void Database::Scan(const wire::PageRequest& request, Done<Page> done, CancellationPtr cancellation) {
  ReadPage(*engine_, *segments_, PageOperation::kScan, engine_->View(), request, std::move(done),
           std::move(cancellation));
}

void Database::ServiceScan(const wire::PageRequest& request, Done<Page> done, CancellationPtr cancellation) {
  ReadPage(*engine_, *segments_, PageOperation::kScan, engine_->View(), request, std::move(done),
           std::move(cancellation), ConsistentIndexReads::kRefused);
}

absl::StatusOr<std::shared_ptr<const PinnedSnapshot>> Database::PinSnapshot() {
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine_->View());
  return engine_->pinned_snapshots().Pin(std::move(view));
}

void Database::QuerySnapshot(const PinnedSnapshot& state, const wire::PageRequest& request, Done<Page> done,
                             CancellationPtr cancellation) {
  ReadPage(*engine_, *segments_, PageOperation::kQuery, state.View(), request, std::move(done),
           std::move(cancellation));
}

void Database::ScanSnapshot(const PinnedSnapshot& state, const wire::PageRequest& request, Done<Page> done,
                            CancellationPtr cancellation) {
  ReadPage(*engine_, *segments_, PageOperation::kScan, state.View(), request, std::move(done),
           std::move(cancellation));
}

void Database::ReadChanges(const v1::ReadChangesRequest& request, Done<v1::ReadChangesReply> done,
                           CancellationPtr cancellation) {
  storage::ReadChanges(*engine_, request, std::move(done), std::move(cancellation));
}

void Database::HoldChanges(v1::HoldChangesRequest request, Done<v1::HoldChangesReply> done) {
  storage::HoldChanges(*engine_, std::move(request), std::move(done));
}

void Database::ReleaseChanges(v1::ReleaseChangesRequest request, Done<v1::ReleaseChangesReply> done) {
  storage::ReleaseChanges(*engine_, std::move(request), std::move(done));
}

void Database::UndoChanges(v1::UndoChangesRequest request, Done<v1::UndoChangesReply> done,
                           CancellationPtr cancellation) {
  storage::UndoChanges(
      *engine_,
      [this](uint64_t change_sequence, CancellationPtr call, EarlierItemsTask task) {
        earlier_items_->Run(change_sequence, std::move(call), std::move(task));
      },
      std::move(request), std::move(done), std::move(cancellation));
}

void Database::WatchChanges(const v1::WatchRequest& request, Done<WatchPage> done,
                            CancellationPtr cancellation) {
  storage::WatchChanges(*engine_, request, std::move(done), std::move(cancellation));
}

void Database::ListStreams(const ListStreamsRequest& request, Done<ListStreamsReply> done) {
  storage::ListStreams(*engine_, request, std::move(done));
}

void Database::DescribeStream(const DescribeStreamRequest& request, Done<DescribeStreamReply> done) {
  storage::DescribeStream(*engine_, request, std::move(done));
}

void Database::GetShardIterator(const ShardIteratorRequest& request, Done<std::string> done) {
  storage::GetShardIterator(*engine_, request, std::move(done));
}

void Database::GetRecords(const GetRecordsRequest& request, Done<GetRecordsReply> done,
                          CancellationPtr cancellation) {
  storage::GetRecords(*engine_, request, std::move(done), std::move(cancellation));
}

void Database::CheckDatabase(const v1::CheckDatabaseRequest& request, Done<v1::CheckDatabaseReply> done,
                             CancellationPtr cancellation) {
  if (!request.repair())
    return storage::CheckDatabase(*engine_, request, std::move(done), std::move(cancellation));
  storage::CheckDatabase(
      *engine_, request,
      [this, done = std::move(done)](absl::StatusOr<v1::CheckDatabaseReply> reply) mutable {
        // A repair changes entries without changes of items, from which copies are brought up to date.
        vectors_->copies().ForgetAll();
        std::move(done)(std::move(reply));
      },
      std::move(cancellation));
}

void Database::CreateDatabaseBackup(const v1::CreateDatabaseBackupRequest&, Done<v1::DatabaseBackup> done,
                                    CancellationPtr cancellation) {
  if (absl::Status refused = CheckPrimary(); !refused.ok()) return std::move(done)(std::move(refused));
  storage::CreateDatabaseBackup(*engine_, std::move(done), std::move(cancellation));
}

void Database::ListDatabaseBackups(const v1::ListDatabaseBackupsRequest& request,
                                   Done<v1::ListDatabaseBackupsReply> done, CancellationPtr) {
  storage::ListDatabaseBackups(*engine_, request, std::move(done));
}

void Database::VerifyDatabaseBackup(const v1::VerifyDatabaseBackupRequest& request,
                                    Done<v1::DatabaseBackup> done, CancellationPtr cancellation) {
  storage::VerifyDatabaseBackup(*engine_, request, ProveBackup, std::move(done), std::move(cancellation));
}

void Database::DeleteDatabaseBackups(const v1::DeleteDatabaseBackupsRequest& request,
                                     Done<v1::DeleteDatabaseBackupsReply> done, CancellationPtr) {
  storage::DeleteDatabaseBackups(*engine_, request, std::move(done));
}

void Database::ListDamage(const v1::ListDamageRequest&, Done<v1::ListDamageReply> done, CancellationPtr) {
  RunOnIoThread<v1::ListDamageReply>(
      *engine_, IoPriority::kLong, [this] { return storage::ListDamage(*engine_, file_check_->Findings()); },
      std::move(done));
}

void Database::DiscardDamagedItem(const v1::DiscardDamagedItemRequest& request,
                                  Done<v1::DiscardDamagedItemReply> done, CancellationPtr cancellation) {
  storage::DiscardDamagedItem(
      *engine_, request,
      [this, done = std::move(done)](absl::StatusOr<v1::DiscardDamagedItemReply> reply) mutable {
        if (reply.ok()) vectors_->copies().ForgetAll();
        std::move(done)(std::move(reply));
      },
      std::move(cancellation));
}

uint64_t Database::opened_sequence() const { return engine_->opened_sequence(); }

v1::GetStatusReply Database::GetStatus(const v1::GetStatusRequest& request) {
  v1::GetStatusReply reply = storage::GetStatus(*engine_, request);
  background_check_->Describe(&reply);
  file_check_->Describe(&reply);
  key_rotation_->Describe(&reply);
  if (is_primary_) {
    backup_schedule_->Describe(&reply);
    archive_upkeep_->Describe(&reply);
  } else {
    follower_->Describe(&reply);
  }
  DescribeProof(*engine_, &reply);
  DescribePlaces(*engine_, &reply);
  return reply;
}

bool Database::IsWritable() const { return !engine_->IsFailed(); }

absl::Status Database::CheckPrimary() const {
  return is_primary_ ? absl::OkStatus() : engine_->WriteRefusal();
}

DatabaseFigures Database::MeasureFigures() {
  DatabaseFigures figures;
  v1::GetStatusRequest request;
  request.set_with_tables(true);
  figures.status = GetStatus(request);
  figures.commits = engine_->pipeline_statistics().commits;
  figures.first_change = engine_->trim_horizon().oldest();
  if (auto view = engine_->View(); view.ok()) {
    figures.has_store = true;
    figures.store = (*view)->store()->MeasureFigures((*view)->snapshot()->GetSequenceNumber());
    figures.tables = MeasureTables(**view, *builds_, is_primary_ ? sweeper_.get() : nullptr);
    figures.check_round.records = CountRecords(**view, engine_->size_statistics());
  }
  figures.check_round.compared = background_check_->compared();
  figures.store_totals = engine_->store_totals();
  figures.vectors = vectors_->copies().figures();
  return figures;
}

void Database::ProbeWrites() {
  // A refusal while the store is opened again shows too that the pipeline does not hang. A full queue would
  // not: then the probe waits.
  (void)CommitAndWait(
      *engine_, [](CommitGroup&) { return absl::OkStatus(); },
      {.when_full = WhenFull::kWait, .space = WriteSpace::kFrees, .origin = WriteOrigin::kUpkeep});
}

void Database::UpdateContributorInsights(v1::UpdateContributorInsightsRequest request,
                                         Done<v1::UpdateContributorInsightsReply> done) {
  storage::UpdateContributorInsights(*engine_, std::move(request), std::move(done));
}

absl::StatusOr<v1::DescribeContributorInsightsReply> Database::DescribeContributorInsights(
    const v1::DescribeContributorInsightsRequest& request) {
  return storage::DescribeContributorInsights(*engine_, request);
}

absl::StatusOr<v1::ListContributorInsightsReply> Database::ListContributorInsights(
    const v1::ListContributorInsightsRequest& request) {
  return storage::ListContributorInsights(*engine_, request);
}

absl::StatusOr<v1::GetTopKeysReply> Database::GetTopKeys(const v1::GetTopKeysRequest& request) {
  return storage::GetTopKeys(*engine_, request);
}

absl::StatusOr<v1::GetAccessPatternsReply> Database::GetAccessPatterns(
    const v1::GetAccessPatternsRequest& request) {
  return storage::GetAccessPatterns(*engine_, request);
}

}  // namespace itemdb::storage
