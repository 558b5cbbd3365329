// The database: the one storage header that the daemon includes.
//
// One class with one method per operation. Items in itemdb.wire messages are encoded itemdb.v1.Item bytes.
// Nothing here knows gRPC or HTTP.
//
// Threads: every method is thread-safe. A method with a `done` parameter is asynchronous: it never blocks the
// caller on disk, and it calls `done` exactly once, either before it returns or later on a thread of the
// database. `done` must not block and must not destroy the database.
//
// Errors of all operations, besides those named at an operation:
//   INVALID_ARGUMENT (VALIDATION)               the request is malformed
//   NOT_FOUND (RESOURCE_NOT_FOUND)              no such table
//   RESOURCE_EXHAUSTED (QUEUE_FULL, DISK_FULL)  nothing was written; try again later
//   UNAVAILABLE                                 the database is closing or reopening; nothing was written
//   UNKNOWN (WRITE_OUTCOME_UNKNOWN)             the write may or may not have been applied
//   DATA_LOSS                                   stored bytes are damaged
//   CANCELLED, DEADLINE_EXCEEDED                `cancellation` stopped the operation; nothing was written
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "itemdb/v1/admin.pb.h"
#include "itemdb/v1/backups.pb.h"
#include "itemdb/v1/bulk_puts.pb.h"
#include "itemdb/v1/changes.pb.h"
#include "itemdb/v1/exports.pb.h"
#include "itemdb/v1/imports.pb.h"
#include "itemdb/v1/replication.pb.h"
#include "itemdb/v1/tables.pb.h"
#include "itemdb/wire/data.pb.h"
#include "storage/api/database_figures.h"
#include "storage/api/options.h"
#include "storage/api/replies.h"
#include "storage/api/statement_target.h"
#include "storage/api/stream_requests.h"
#include "storage/base/cancellation.h"
#include "storage/base/status.h"

namespace itemdb::storage {

class BackgroundCheck;
class ArchiveUpkeep;
class BackupSchedule;
class FileCheck;
class Follower;
class BulkWrites;
class ChangeTrimmer;
class EarlierItems;
class Engine;
class ExpirySweeper;
class PinnedSnapshot;
class BulkPuts;
class Imports;
class IndexBuilds;
class KeyRotation;
class ScanSegments;
class VectorSearches;
class TableBackups;
class TableExports;
class TableRestores;

class Database {
 public:
  // Opens or creates a database and recovers all committed data. Blocks.
  //
  // FAILED_PRECONDITION: another process has the directory open (DATA_DIRECTORY_IN_USE); the directory holds
  // something that is not a database (DATA_DIRECTORY_FOREIGN); a newer program wrote it (FORMAT_UNKNOWN).
  // DATA_LOSS: committed data is missing or damaged; the message names the file, the change sequence and the
  // command to run next. The directory is unchanged in all these cases.
  static absl::StatusOr<std::unique_ptr<Database>> Open(DatabaseOptions options);

  // Completes every accepted write, then closes. No method may be running or be called later.
  ~Database();

  // Before a planned stop: writes what only the write-ahead log has to table files, so that the next Open
  // need not replay it. Blocks, for at most `timeout` or until `cancellation`. Data is durable with or
  // without this call.
  absl::Status FlushBeforeStop(std::chrono::milliseconds timeout, const Cancellation& cancellation);

  // ---- tables ----

  // The DDL thread makes these changes one after another; each is one commit. An index that UpdateTable
  // creates is backfilled after the reply, while reads and writes go on; DescribeTable reports the progress.
  void CreateTable(v1::CreateTableRequest request, Done<v1::CreateTableReply> done);
  void DeleteTable(v1::DeleteTableRequest request, Done<v1::DeleteTableReply> done);
  void UpdateTable(v1::UpdateTableRequest request, Done<v1::UpdateTableReply> done);
  void TagTable(v1::TagTableRequest request, Done<v1::TagTableReply> done);
  void UntagTable(v1::UntagTableRequest request, Done<v1::UntagTableReply> done);
  // When the time to live is turned on, existing items are backfilled as for a new index, while reads and
  // writes go on. No item expires before the backfill is done. The time to live may be turned off meanwhile.
  //
  // INVALID_ARGUMENT: the time to live is already as requested, or is on for another attribute (SEM-111).
  void UpdateTimeToLive(v1::UpdateTimeToLiveRequest request, Done<v1::UpdateTimeToLiveReply> done);
  absl::StatusOr<v1::DescribeTimeToLiveReply> DescribeTimeToLive(
      const v1::DescribeTimeToLiveRequest& request);
  // Whether the most used keys of a table or of a global index are counted (OP-56 to OP-58). Counts begin
  // anew when they are turned on, and when the database is opened.
  //
  // NOT_FOUND: no such table or global index.
  void UpdateContributorInsights(v1::UpdateContributorInsightsRequest request,
                                 Done<v1::UpdateContributorInsightsReply> done);
  absl::StatusOr<v1::DescribeContributorInsightsReply> DescribeContributorInsights(
      const v1::DescribeContributorInsightsRequest& request);
  absl::StatusOr<v1::ListContributorInsightsReply> ListContributorInsights(
      const v1::ListContributorInsightsRequest& request);
  v1::DescribeLimitsReply DescribeLimits() const;
  absl::StatusOr<v1::DescribeTableReply> DescribeTable(const v1::DescribeTableRequest& request);
  // With `shows` only the tables for whose names it returns true: the reply is as if there were no others.
  absl::StatusOr<v1::ListTablesReply> ListTables(
      const v1::ListTablesRequest& request,
      const std::function<bool(std::string_view name)>& shows = nullptr);

  // ---- backups of tables ----

  // As itemdb.v1.Backups says (BAK-01..21, PIT-01..06, PIT-09..19), with its errors. A backup is of one
  // change sequence. CreateBackup and RestoreTableFromBackup are answered while their work goes on, but for
  // small backups; what the end of the process interrupts is a whole backup or none, and a table that is
  // restored anew.
  void CreateBackup(v1::CreateBackupRequest request, Done<v1::CreateBackupReply> done);
  void DescribeBackup(v1::DescribeBackupRequest request, Done<v1::DescribeBackupReply> done);
  // With `shows` only backups of the tables for whose names it returns true.
  void ListBackups(v1::ListBackupsRequest request, Done<v1::ListBackupsReply> done,
                   std::function<bool(std::string_view table_name)> shows = nullptr);
  void DeleteBackup(v1::DeleteBackupRequest request, Done<v1::DeleteBackupReply> done);
  void RestoreTableFromBackup(v1::RestoreTableFromBackupRequest request,
                              Done<v1::RestoreTableFromBackupReply> done);
  void RestoreTableToPointInTime(v1::RestoreTableToPointInTimeRequest request,
                                 Done<v1::RestoreTableToPointInTimeReply> done);
  absl::StatusOr<v1::DescribeContinuousBackupsReply> DescribeContinuousBackups(
      const v1::DescribeContinuousBackupsRequest& request);
  void UpdateContinuousBackups(v1::UpdateContinuousBackupsRequest request,
                               Done<v1::UpdateContinuousBackupsReply> done);

  // ---- exports of tables ----

  // As itemdb.v1.Exports says, with its errors. An export is answered while it is made. The end
  // of the process interrupts it; it is made again at the next Open.
  void ExportTableToPointInTime(v1::ExportTableToPointInTimeRequest request,
                                Done<v1::ExportTableToPointInTimeReply> done);
  void DescribeExport(v1::DescribeExportRequest request, Done<v1::DescribeExportReply> done);
  // With `shows` only exports of the tables for whose names it returns true.
  void ListExports(v1::ListExportsRequest request, Done<v1::ListExportsReply> done,
                   std::function<bool(std::string_view table_name)> shows = nullptr);

  // ---- imports ----

  // As itemdb.v1.Imports says (IMP-01..24), with its errors. ImportTable is answered when the import is
  // durable; what the end of the process interrupts begins again at the next start.
  void ImportTable(v1::ImportTableRequest request, Done<v1::ImportTableReply> done);
  absl::StatusOr<v1::DescribeImportReply> DescribeImport(const v1::DescribeImportRequest& request);
  // With `shows` only imports of the tables for whose names it returns true.
  absl::StatusOr<v1::ListImportsReply> ListImports(
      const v1::ListImportsRequest& request,
      const std::function<bool(std::string_view table_name)>& shows = nullptr);

  // ---- bulk puts ----

  // As itemdb.v1.BulkPuts says (BLK-01..11), with its errors. StartBulkPutItems is answered when the
  // operation is durable; what the end of the process interrupts goes on at the next start.
  void StartBulkPutItems(v1::StartBulkPutItemsRequest request, Done<v1::StartBulkPutItemsReply> done);
  void CancelBulkOperation(v1::CancelBulkOperationRequest request, Done<v1::CancelBulkOperationReply> done);
  absl::StatusOr<v1::DescribeBulkOperationReply> DescribeBulkOperation(
      const v1::DescribeBulkOperationRequest& request);
  // With `shows` only operations on the tables for whose names it returns true.
  absl::StatusOr<v1::ListBulkOperationsReply> ListBulkOperations(
      const v1::ListBulkOperationsRequest& request,
      const std::function<bool(std::string_view table_name)>& shows = nullptr);

  // ---- items ----

  void PutItem(const wire::WriteItemRequest& request, Done<wire::WriteItemReply> done,
               CancellationPtr cancellation = nullptr);
  void UpdateItem(const wire::WriteItemRequest& request, Done<wire::WriteItemReply> done,
                  CancellationPtr cancellation = nullptr);
  void DeleteItem(const wire::WriteItemRequest& request, Done<wire::WriteItemReply> done,
                  CancellationPtr cancellation = nullptr);
  void BatchWriteItem(const wire::BatchWriteItemRequest& request, Done<wire::BatchWriteItemReply> done,
                      CancellationPtr cancellation = nullptr);
  void TransactWriteItems(const wire::TransactWriteItemsRequest& request,
                          Done<wire::TransactWriteItemsReply> done, CancellationPtr cancellation = nullptr);
  // Begins one caller's BulkWrite. A chunk may be given before the earlier ones are answered; chunks are
  // applied in the order of their numbers. A chunk waits while the write queue is full, so the caller must
  // bound the number of chunks in flight. After a chunk fails, all later chunks fail with the same error.
  // Drop the object before the database.
  //
  // INVALID_ARGUMENT: a wrong chunk number, an empty or too long chunk, a token used for another request.
  std::shared_ptr<BulkWrites> BeginBulkWrite();
  void BulkWrite(BulkWrites& writes, const wire::BulkWriteChunk& chunk, Done<wire::BulkWriteReply> done,
                 CancellationPtr cancellation = nullptr);
  void GetItem(const wire::GetItemRequest& request, Done<wire::GetItemReply> done,
               CancellationPtr cancellation = nullptr);
  void BatchGetItem(wire::BatchGetItemRequest request, Done<wire::BatchGetItemReply> done,
                    CancellationPtr cancellation = nullptr);
  void TransactGetItems(const wire::TransactGetItemsRequest& request, Done<wire::TransactGetItemsReply> done,
                        CancellationPtr cancellation = nullptr);
  void Query(const wire::PageRequest& request, Done<Page> done, CancellationPtr cancellation = nullptr);
  void Scan(const wire::PageRequest& request, Done<Page> done, CancellationPtr cancellation = nullptr);
  // The entries of a vector index that are nearest to a vector (VEC-14). Sees every item that was committed
  // when it was called. Errors as Query; RESOURCE_EXHAUSTED (QUEUE_FULL): too many searches wait.
  void SearchVectors(const wire::SearchVectorsRequest& request, Done<wire::SearchVectorsReply> done,
                     CancellationPtr cancellation = nullptr);
  // The same for DynamoDB's HTTP protocol: ConsistentRead of a global index is refused, as DynamoDB does
  // (SEM-038). Query and Scan above accept it, because every read of this database is consistent.
  void ServiceQuery(const wire::PageRequest& request, Done<Page> done,
                    CancellationPtr cancellation = nullptr);
  void ServiceScan(const wire::PageRequest& request, Done<Page> done, CancellationPtr cancellation = nullptr);

  // PartiQL statements (PQL-01..18). All items of one page of a SELECT are read from one state.
  //
  // INVALID_ARGUMENT: the text is not a valid statement, or does not fit the table. ALREADY_EXISTS
  // (DUPLICATE_ITEM): an INSERT of an item that exists.
  void ExecuteStatement(const wire::ExecuteStatementRequest& request, Done<StatementPage> done,
                        CancellationPtr cancellation = nullptr);
  // A statement that fails has its error in its own response; the other statements are executed.
  void BatchExecuteStatement(const wire::BatchExecuteStatementRequest& request,
                             Done<wire::BatchExecuteStatementReply> done,
                             CancellationPtr cancellation = nullptr);
  // The statements are all reads, of one state, or all writes, applied like those of TransactWriteItems.
  void ExecuteTransaction(const wire::ExecuteTransactionRequest& request,
                          Done<wire::ExecuteTransactionReply> done, CancellationPtr cancellation = nullptr);
  // For access control, decided from the text alone: whether `statement` only reads, and its action name in
  // DynamoDB's permissions, such as "PartiQLSelect" (empty if the text is not a statement).
  static bool IsReadStatement(std::string_view statement);
  static std::string_view StatementAction(std::string_view statement);
  // The table that the text of a statement names; empty for a text without one. The rest of the text need not
  // be a statement.
  static std::string TableNameInStatement(std::string_view statement);

  // For access control: the table that a part of a request names. None of these functions looks at tables, so
  // the table need not exist.
  //
  // `name` of any request, which is the name of a table or an ARN: the name by which the table is looked up.
  // Borrows from `name`. Other texts are returned as they are or without their beginning; they name no table.
  static std::string_view TableNameOf(std::string_view name);
  // The table of a statement, as TargetOfStatement() in storage/partiql/statement_access.h.
  static absl::StatusOr<StatementTarget> TargetOfStatement(
      std::string_view statement, const google::protobuf::RepeatedPtrField<std::string>& parameters);
  // The tables of a stream's ARN and of a shard iterator. INVALID_ARGUMENT: `arn` or `iterator` is not one.
  // The iterator may be of another database, or expired: GetRecords refuses it then.
  static absl::StatusOr<std::string> TableOfStreamArn(std::string_view arn);
  static absl::StatusOr<std::string> TableOfShardIterator(std::string_view iterator);
  // The table of a backup's ARN. INVALID_ARGUMENT, PERMISSION_DENIED: as the operations on backups.
  static absl::StatusOr<std::string> TableOfBackupArn(std::string_view arn);
  // The same for the ARN of an export.
  static absl::StatusOr<std::string> TableOfExportArn(std::string_view arn);
  // The same for an import's ARN.
  static absl::StatusOr<std::string> TableOfImportArn(std::string_view arn);
  // The same for a bulk put's ARN.
  static absl::StatusOr<std::string> TableOfBulkOperationArn(std::string_view arn);

  // Pins a snapshot of the current state, so that several pages can be read from one state. Dropping the
  // last pointer releases the snapshot; it must be dropped before the database. The snapshot can be read for
  // DatabaseOptions::max_pinned_snapshot_age at most.
  absl::StatusOr<std::shared_ptr<const PinnedSnapshot>> PinSnapshot();
  // Query and Scan of a pinned snapshot. ABORTED (STATE_TOO_OLD): the snapshot is too old, or was released
  // because the store had to be reopened.
  void QuerySnapshot(const PinnedSnapshot& state, const wire::PageRequest& request, Done<Page> done,
                     CancellationPtr cancellation = nullptr);
  void ScanSnapshot(const PinnedSnapshot& state, const wire::PageRequest& request, Done<Page> done,
                    CancellationPtr cancellation = nullptr);

  // ---- changes and administration ----

  // OUT_OF_RANGE (CHANGES_TRIMMED): change records after `after_sequence` were trimmed from the change log.
  void ReadChanges(const v1::ReadChangesRequest& request, Done<v1::ReadChangesReply> done,
                   CancellationPtr cancellation = nullptr);
  // Keeps changes in the change log for a reader, until it releases them, does not renew its hold in time, or
  // the disk is too full (SEM-103).
  //
  // OUT_OF_RANGE (CHANGES_TRIMMED): some of them were trimmed. FAILED_PRECONDITION (HOLD_ENDED): a hold that
  // is to be renewed has ended.
  void HoldChanges(v1::HoldChangesRequest request, Done<v1::HoldChangesReply> done);
  void ReleaseChanges(v1::ReleaseChangesRequest request, Done<v1::ReleaseChangesReply> done);
  // Items become what they were before a stretch of changes. Items of which the change log has no old image
  // come from the archive: the database is restored into a folder for them, which takes its time and space,
  // and is kept for a minute.
  //
  // FAILED_PRECONDITION (IMAGE_MISSING): neither has them. OUT_OF_RANGE (CHANGES_TRIMMED): as above.
  void UndoChanges(v1::UndoChangesRequest request, Done<v1::UndoChangesReply> done,
                   CancellationPtr cancellation = nullptr);
  // Answers with one page of a watch: the change records after the request's after_sequence, as soon as there
  // are any, or no records when the progress interval is over. A request without after_sequence is answered
  // at once, without records. The caller's next request takes the change_sequence and table_storage_id of the
  // reply. A cancelled wait ends within 50 ms.
  //
  // OUT_OF_RANGE (CHANGES_TRIMMED): as above.
  void WatchChanges(const v1::WatchRequest& request, Done<WatchPage> done,
                    CancellationPtr cancellation = nullptr);

  // The Streams API (SEM-101..107). The streams of all tables are read from the change log; each stream has
  // one shard. It can be read until its changes are trimmed, also after it was disabled or its table deleted.
  //
  // NOT_FOUND: no such table, stream or shard.
  void ListStreams(const ListStreamsRequest& request, Done<ListStreamsReply> done);
  void DescribeStream(const DescribeStreamRequest& request, Done<DescribeStreamReply> done);
  // OUT_OF_RANGE (CHANGES_TRIMMED): the requested change was trimmed from the change log.
  void GetShardIterator(const ShardIteratorRequest& request, Done<std::string> done);
  // OUT_OF_RANGE: CHANGES_TRIMMED as above; EXPIRED_ITERATOR: the iterator is too old.
  void GetRecords(const GetRecordsRequest& request, Done<GetRecordsReply> done,
                  CancellationPtr cancellation = nullptr);

  // Reads the whole database, or the requested part, which may take long.
  void CheckDatabase(const v1::CheckDatabaseRequest& request, Done<v1::CheckDatabaseReply> done,
                     CancellationPtr cancellation = nullptr);
  // Backups of the whole database, as itemdb.v1.Admin says. Of these calls one runs at a time; others get
  // RESOURCE_EXHAUSTED (LIMIT_EXCEEDED). NOT_FOUND: no such backup. UNAVAILABLE: the backup directory cannot
  // be read or written; it is as before then. FAILED_PRECONDITION (DATA_DIRECTORY_FOREIGN): it has the
  // backups of another database. RESOURCE_EXHAUSTED (DISK_FULL): the disk of the backups is full.
  void CreateDatabaseBackup(const v1::CreateDatabaseBackupRequest& request, Done<v1::DatabaseBackup> done,
                            CancellationPtr cancellation = nullptr);
  void ListDatabaseBackups(const v1::ListDatabaseBackupsRequest& request,
                           Done<v1::ListDatabaseBackupsReply> done, CancellationPtr cancellation = nullptr);
  void VerifyDatabaseBackup(const v1::VerifyDatabaseBackupRequest& request, Done<v1::DatabaseBackup> done,
                            CancellationPtr cancellation = nullptr);
  void DeleteDatabaseBackups(const v1::DeleteDatabaseBackupsRequest& request,
                             Done<v1::DeleteDatabaseBackupsReply> done,
                             CancellationPtr cancellation = nullptr);
  // The known damage, as itemdb.v1.Admin says. Reads the damaged files.
  void ListDamage(const v1::ListDamageRequest& request, Done<v1::ListDamageReply> done,
                  CancellationPtr cancellation = nullptr);
  // INVALID_ARGUMENT: the item can be read, or there is none. DATA_LOSS: an index of the table cannot be
  // read.
  void DiscardDamagedItem(const v1::DiscardDamagedItemRequest& request,
                          Done<v1::DiscardDamagedItemReply> done, CancellationPtr cancellation = nullptr);
  // The last change that was found when the database was opened. Items may have expired since.
  uint64_t opened_sequence() const;
  // The daemon fills in the version, the start time and the memory used outside storage. While the database
  // is reopening, tables and disk usage are missing. Takes milliseconds.
  v1::GetStatusReply GetStatus(const v1::GetStatusRequest& request = {});
  // False from a write that failed until the store was opened again: writes are refused meanwhile.
  bool IsWritable() const;
  // The same status with all tables, and more figures, for metrics.
  DatabaseFigures MeasureFigures();
  // Passes a write without content through the commit pipeline, and returns when it was answered or refused.
  // Writes nothing. Blocks as long as the pipeline does: for ever if the disk never answers.
  void ProbeWrites();
  // Makes a standby (DatabaseOptions::standby_archive) the primary: the primary that it has followed takes no
  // more writes, if it runs and can read its archive; what the archive has is applied; writes are accepted.
  //
  // FAILED_PRECONDITION: it is no standby. Not forced: FAILED_PRECONDITION (FENCED): another standby was
  // promoted; FAILED_PRECONDITION, UNAVAILABLE, DATA_LOSS: the archive has a gap, or cannot be read or
  // written.
  void Promote(v1::PromoteRequest request, Done<v1::PromoteReply> done);
  // Whether it follows another database and was not promoted.
  bool IsStandby() const { return follower_ != nullptr && !is_primary_; }
  // All changes up to this one are on disk.
  uint64_t durable_sequence() const;
  // Before a stop: writes that wait for a standby are answered WRITE_OUTCOME_UNKNOWN, and standbys that wait
  // for changes at once.
  void EndStandbyWaits() const;
  // Has a standby look for new commits now. `anew`: also again at what it has read and not applied.
  void FollowNow(bool anew) const;
  // The promotion of this database that its old primary must hear of, if there is one. Reads a small file.
  // Errors: of the file system; DATA_LOSS.
  absl::StatusOr<std::optional<v1::StandbyPromotion>> FindOwnPromotion() const;
  // Another standby of the same primary was promoted: this one can be promoted with `force` only.
  void OtherWasPromoted(const v1::StandbyPromotion& promotion) const;
  // What a standby that cannot read the directories of this database calls (itemdb.v1.Replication).
  void ListReplicationFiles(v1::ListReplicationFilesRequest request,
                            Done<v1::ListReplicationFilesReply> done);
  void ReadReplicationFile(v1::ReadReplicationFileRequest request, Done<v1::ReadReplicationFileReply> done);
  void FencePrimary(v1::FencePrimaryRequest request, Done<v1::FencePrimaryReply> done);
  // How tables were read and written since the database was opened (SEED-049). A PartiQL statement counts as
  // the Query, Scan or write that it becomes; a batch or transaction counts once for each of its tables.
  // Deleting a table or an index deletes its patterns. Takes microseconds per pattern.
  //
  // NOT_FOUND: no such table.
  absl::StatusOr<v1::GetAccessPatternsReply> GetAccessPatterns(const v1::GetAccessPatternsRequest& request);
  // The most used keys of a table or global index; nothing while its contributor insights are off.
  absl::StatusOr<v1::GetTopKeysReply> GetTopKeys(const v1::GetTopKeysRequest& request);

 private:
  // `follower` is null but for a standby.
  Database(std::unique_ptr<Engine> engine, std::unique_ptr<Follower> follower);
  // What only a database that takes writes does in the background.
  void StartPrimaryWork();
  absl::StatusOr<v1::PromoteReply> PromoteNow(bool force);
  // OK unless the database is a standby.
  absl::Status CheckPrimary() const;

  // Declared before the engine and so destroyed after it: the engine's threads use these until they end.
  std::unique_ptr<ScanSegments> segments_;
  std::unique_ptr<VectorSearches> vectors_;
  std::unique_ptr<IndexBuilds> builds_;
  std::unique_ptr<TableBackups> table_backups_;
  std::unique_ptr<Imports> imports_;
  std::unique_ptr<BulkPuts> bulk_puts_;
  std::unique_ptr<EarlierItems> earlier_items_;
  std::unique_ptr<TableRestores> restores_;
  std::unique_ptr<TableExports> exports_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<ChangeTrimmer> trimmer_;
  std::unique_ptr<ExpirySweeper> sweeper_;
  std::unique_ptr<BackgroundCheck> background_check_;
  std::unique_ptr<FileCheck> file_check_;
  std::unique_ptr<BackupSchedule> backup_schedule_;
  std::unique_ptr<ArchiveUpkeep> archive_upkeep_;
  std::unique_ptr<KeyRotation> key_rotation_;
  // Null but for a database that was opened as a standby.
  std::unique_ptr<Follower> follower_;
  // Whether StartPrimaryWork has been called.
  std::atomic<bool> is_primary_ = false;
};

}  // namespace itemdb::storage
