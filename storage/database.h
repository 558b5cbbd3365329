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

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "itemdb/v1/admin.pb.h"
#include "itemdb/v1/changes.pb.h"
#include "itemdb/v1/tables.pb.h"
#include "itemdb/wire/data.pb.h"
#include "storage/base/cancellation.h"
#include "storage/base/limits.h"
#include "storage/base/status.h"
#include "storage/changes/stream_requests.h"

namespace rocksdb {
class FileSystem;
}
namespace spdlog {
class logger;
}

namespace itemdb {

class BackgroundCheck;
class BulkWrites;
class ChangeTrimmer;
class Engine;
class ExpirySweeper;
class HeldState;
class IndexBuilds;
class ScanSegments;

template <typename Reply>
using Done = absl::AnyInvocable<void(absl::StatusOr<Reply>) &&>;

struct DatabaseOptions {
  // Created when missing. Must be empty or hold a database of this program.
  std::string data_directory;
  // Sync every commit group to disk before its writes are answered. When false, up to a second of answered
  // writes can be lost with the machine (not with the process).
  bool durable = true;
  // Open a database that was refused because of lost or damaged data: keep what is readable, rebuild the
  // indexes, log what is lost.
  bool recover_last_good = false;
  // Block cache shared by all tables and indexes, in bytes. More keeps more data in memory.
  size_t block_cache_bytes = 256 << 20;
  // Memtables of all tables and indexes together, in bytes. More means fewer, larger flushes.
  size_t memtable_bytes = 128 << 20;
  // What creating an index on a live table sorts in memory, in bytes, taken from the block cache while it
  // does; the rest is sorted in files. More means fewer of them.
  size_t index_build_bytes = 32 << 20;
  // Writes waiting for the commit pipeline, in bytes; beyond it writes are refused (QUEUE_FULL).
  size_t max_queue_bytes = 64 << 20;
  // Items with one partition key together with their entries in local indexes, of a table that has such, in
  // bytes (SEM-092); writes that would make them larger are refused (ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED).
  int64_t max_item_collection_bytes = int64_t{10} << 30;
  // Writes are refused (DISK_FULL) while the file system has less free space than this, in bytes.
  uint64_t free_space_floor_bytes = 256 << 20;
  // Changes older than this leave the change log (SEM-103). Zero: none does for its age.
  std::chrono::milliseconds change_retention = std::chrono::hours(24);
  // The oldest changes leave the log when its table files have more bytes than this; 0: no bound.
  uint64_t max_change_log_bytes = 0;
  // How long the disk space of deleted tables and indexes may wait, so that that of many small ones is
  // reclaimed at once; that of large ones does not.
  std::chrono::milliseconds reclaim_interval = std::chrono::minutes(1);
  // How often the log is looked at for changes to trim.
  std::chrono::milliseconds change_trim_interval = std::chrono::seconds(10);
  // Turning a table's time to live on or off is refused so long after the last time (SEM-111). The service
  // has about an hour; here nothing needs it.
  std::chrono::milliseconds time_to_live_wait{0};
  // How long expired items that could not be deleted because something of their table is damaged are left
  // alone before they are looked at again.
  std::chrono::milliseconds damaged_expiry_interval = std::chrono::minutes(1);
  // Records that a check in the background compares a second, round after round through the whole database;
  // 0: there is none.
  int64_t background_check_rate = 0;
  // Threads for reads that miss the block cache and for long pages.
  int io_threads = 4;
  // How long a state is held (HoldState).
  std::chrono::milliseconds max_held_state_age = std::chrono::seconds(kMaxHeldStateSeconds);
  // Where background work and RocksDB log. Required.
  std::shared_ptr<spdlog::logger> log;
  // Tests only: the time, in microseconds since the Unix epoch, that writes and times to live go by. Called
  // by several threads. Default: the real one.
  std::function<int64_t()> clock_us;
  // Tests only: the file system under RocksDB and WATERMARK. Default: the real one.
  std::shared_ptr<rocksdb::FileSystem> file_system;
};

// One page of Query or Scan.
struct Page {
  // Everything but the items.
  wire::PageReply reply;
  // The items, each encoded as field 2 of itemdb.v1.QueryReply: append to the encoded `reply`.
  std::string encoded_items;
};

// The reply of ExecuteStatement.
struct StatementPage {
  // Everything but the items.
  wire::ExecuteStatementReply reply;
  // The items, each encoded as field 2 of itemdb.v1.ExecuteStatementReply: append to the encoded `reply`.
  std::string encoded_items;
};

// One reply of a watch.
struct WatchPage {
  // Everything but the records.
  v1::WatchReply reply;
  // The records, each encoded as field 2 of itemdb.v1.WatchReply: append to the encoded `reply`.
  std::string encoded_records;
  // Nothing follows: the table asked for is gone.
  bool last = false;
};

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

  // PartiQL (PQL-01..18). What a statement needs to be allowed is told by IsReadStatement
  // (storage/partiql/statement_access.h). A SELECT reads one state a page.
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
  v1::GetStatusReply GetStatus();
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
