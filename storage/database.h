// The database: the one storage header that the daemon includes.
//
// One class, one method per operation. Item payloads are encoded itemdb.v1.Item bytes throughout (itemdb.wire
// messages); nothing here knows gRPC or HTTP.
//
// Threads: every method is thread-safe. The asynchronous operations never block the caller on disk; they call
// `done` exactly once, either before they return or later on a thread of the database. `done` must not block
// and must not destroy the database.
//
// Errors, beside those an operation names: INVALID_ARGUMENT (reason VALIDATION) the request is malformed;
// NOT_FOUND (RESOURCE_NOT_FOUND) no such table; RESOURCE_EXHAUSTED (QUEUE_FULL, DISK_FULL) nothing was
// written, try again later; UNAVAILABLE the database is closing or reopening, nothing was written; UNKNOWN
// (WRITE_OUTCOME_UNKNOWN) the write may or may not be there; DATA_LOSS stored bytes are damaged; CANCELLED
// and DEADLINE_EXCEEDED the operation's `cancellation` says that nobody waits any more, and nothing was
// written.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "itemdb/v1/admin.pb.h"
#include "itemdb/v1/changes.pb.h"
#include "itemdb/v1/tables.pb.h"
#include "itemdb/wire/data.pb.h"
#include "storage/api/options.h"
#include "storage/api/replies.h"
#include "storage/api/stream_requests.h"
#include "storage/base/cancellation.h"
#include "storage/base/status.h"

namespace itemdb {

class BackgroundCheck;
class BulkWrites;
class ChangeTrimmer;
class Engine;
class ExpirySweeper;
class HeldState;
class IndexBuilds;
class ScanSegments;

class Database {
 public:
  // Opens or creates a database and recovers what was committed. Blocks.
  //
  // FAILED_PRECONDITION: DATA_DIRECTORY_IN_USE another process has it open; DATA_DIRECTORY_FOREIGN the
  // directory holds something else; FORMAT_UNKNOWN a newer program wrote it. DATA_LOSS: committed data is
  // missing or damaged; the message names file, change sequence and the next command. The directory is
  // unchanged in all these cases.
  static absl::StatusOr<std::unique_ptr<Database>> Open(DatabaseOptions options);

  // Answers every write already taken on, then closes. No operation may be running or follow.
  ~Database();

  // ---- tables ----

  // One after another, on a thread of their own; each is one commit. An index that UpdateTable creates is
  // filled afterwards, while everything goes on; DescribeTable tells how far that is.
  void CreateTable(v1::CreateTableRequest request, Done<v1::CreateTableReply> done);
  void DeleteTable(v1::DeleteTableRequest request, Done<v1::DeleteTableReply> done);
  void UpdateTable(v1::UpdateTableRequest request, Done<v1::UpdateTableReply> done);
  void TagTable(v1::TagTableRequest request, Done<v1::TagTableReply> done);
  void UntagTable(v1::UntagTableRequest request, Done<v1::UntagTableReply> done);
  // Items that are there already when the time to live is turned on are looked through while everything goes
  // on, as for an index; no item expires before that is done. It may be turned off meanwhile.
  // INVALID_ARGUMENT: it is as asked for already, or on for another attribute (SEM-111).
  void UpdateTimeToLive(v1::UpdateTimeToLiveRequest request, Done<v1::UpdateTimeToLiveReply> done);
  absl::StatusOr<v1::DescribeTimeToLiveReply> DescribeTimeToLive(
      const v1::DescribeTimeToLiveRequest& request);
  v1::DescribeLimitsReply DescribeLimits() const;
  absl::StatusOr<v1::DescribeTableReply> DescribeTable(const v1::DescribeTableRequest& request);
  absl::StatusOr<v1::ListTablesReply> ListTables(const v1::ListTablesRequest& request);

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
  // Begins one caller's BulkWrite. Chunks may be given before those before them are answered; they are
  // applied in their order. A full queue is waited for: the caller bounds how many are under way. After a
  // chunk that fails, none that follows is begun. Drop it before the database.
  //
  // INVALID_ARGUMENT: the chunk is out of its order, too long or empty; its token stands for another.
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
  // The same for programs written for the service, which must see ConsistentRead of a global index refused
  // (SEM-038). Here every read is consistent.
  void ServiceQuery(const wire::PageRequest& request, Done<Page> done,
                    CancellationPtr cancellation = nullptr);
  void ServiceScan(const wire::PageRequest& request, Done<Page> done, CancellationPtr cancellation = nullptr);

  // PartiQL (PQL-01..18). What a statement needs to be allowed is told by IsReadStatement. A SELECT reads one
  // state a page.
  //
  // INVALID_ARGUMENT: the text is no statement, or not one for its table. ALREADY_EXISTS (DUPLICATE_ITEM): an
  // INSERT of an item that exists.
  void ExecuteStatement(const wire::ExecuteStatementRequest& request, Done<StatementPage> done,
                        CancellationPtr cancellation = nullptr);
  // Statements that fail, by whatever error, say so in their own responses.
  void BatchExecuteStatement(const wire::BatchExecuteStatementRequest& request,
                             Done<wire::BatchExecuteStatementReply> done,
                             CancellationPtr cancellation = nullptr);
  // All statements read one state, or write as TransactWriteItems does.
  void ExecuteTransaction(const wire::ExecuteTransactionRequest& request,
                          Done<wire::ExecuteTransactionReply> done, CancellationPtr cancellation = nullptr);
  // What `statement` needs to be allowed, by its text alone: whether it only reads, and its name in the
  // service's permissions ("PartiQLSelect"; empty of a text that is no statement).
  static bool IsReadStatement(std::string_view statement);
  static std::string_view StatementAction(std::string_view statement);

  // The state of now, for pages that are all of one state; held until it is dropped, for
  // `max_held_state_age` at most. Drop it before the database.
  absl::StatusOr<std::shared_ptr<const HeldState>> HoldState();
  // Query and Scan of a held state. ABORTED (STATE_TOO_OLD): it is held no longer.
  void QueryState(const HeldState& state, const wire::PageRequest& request, Done<Page> done,
                  CancellationPtr cancellation = nullptr);
  void ScanState(const HeldState& state, const wire::PageRequest& request, Done<Page> done,
                 CancellationPtr cancellation = nullptr);

  // ---- changes and administration ----

  // OUT_OF_RANGE (CHANGES_TRIMMED): records after `after_sequence` are no longer all there.
  void ReadChanges(const v1::ReadChangesRequest& request, Done<v1::ReadChangesReply> done,
                   CancellationPtr cancellation = nullptr);
  // One reply of a watch: records after the request's sequence as soon as there are any, or none when the
  // progress interval is over (at once when the request names no sequence). The caller goes on with the
  // change_sequence and the table_storage_id of the reply. A cancelled wait ends within 50 ms.
  //
  // OUT_OF_RANGE (CHANGES_TRIMMED): as above.
  void WatchChanges(const v1::WatchRequest& request, Done<WatchPage> done,
                    CancellationPtr cancellation = nullptr);

  // The streams of tables (SEM-101..107), which share the change log; each has one shard. A stream that was
  // disabled, or whose table was deleted, is there as long as its changes.
  //
  // NOT_FOUND: no such table, stream or shard.
  void ListStreams(const ListStreamsRequest& request, Done<ListStreamsReply> done);
  void DescribeStream(const DescribeStreamRequest& request, Done<DescribeStreamReply> done);
  // OUT_OF_RANGE (CHANGES_TRIMMED): the change asked for is no longer in the log.
  void GetShardIterator(const ShardIteratorRequest& request, Done<std::string> done);
  // OUT_OF_RANGE: CHANGES_TRIMMED as above; EXPIRED_ITERATOR the iterator is too old.
  void GetRecords(const GetRecordsRequest& request, Done<GetRecordsReply> done,
                  CancellationPtr cancellation = nullptr);

  // Reads everything; takes as long as that takes.
  void CheckDatabase(const v1::CheckDatabaseRequest& request, Done<v1::CheckDatabaseReply> done,
                     CancellationPtr cancellation = nullptr);
  // Version, start time and what memory holds outside storage are left empty: they are the daemon's to fill.
  // Tables and disk usage are missing while the database reopens. Takes milliseconds.
  v1::GetStatusReply GetStatus(const v1::GetStatusRequest& request = {});
  // How tables were read and written since the database was opened (SEED-049). A statement counts as the
  // operation that it is; a batch or transaction counts once for each of its tables. What is known of a table
  // or an index goes with it. Takes microseconds a pattern.
  //
  // NOT_FOUND: no such table.
  absl::StatusOr<v1::GetAccessPatternsReply> GetAccessPatterns(const v1::GetAccessPatternsRequest& request);

 private:
  explicit Database(std::unique_ptr<Engine> engine);

  // These two go after the engine, whose threads use them until then.
  std::unique_ptr<ScanSegments> segments_;
  std::unique_ptr<IndexBuilds> builds_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<ChangeTrimmer> trimmer_;
  std::unique_ptr<ExpirySweeper> sweeper_;
  std::unique_ptr<BackgroundCheck> background_check_;
};

}  // namespace itemdb
