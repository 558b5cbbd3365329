// Every bound of the data model and of the engine, each with its reason. A request is checked against these
// bounds once, before it enters the commit pipeline.
#pragma once

#include <cstddef>
#include <cstdint>

namespace itemdb::storage {

// ---- limits of the data model (behaviour of the DynamoDB service; ids of docs/rules.md in parentheses) ----

// The largest item, inclusive (SEM-001). Counted by the data model: names plus values (SEM-002, item_size.h).
inline constexpr size_t kMaxItemBytes = 409'600;
// The sum of the partition key's attributes, and the sum of the sort key's attributes (SEM-006, SEM-084).
inline constexpr size_t kMaxPartitionKeyBytes = 2'048;
inline constexpr size_t kMaxSortKeyBytes = 1'024;
// Attribute names, in UTF-8 bytes. Key, index and projected attributes have the second bound (SEM-009).
inline constexpr size_t kMaxAttributeNameBytes = 65'535;
inline constexpr size_t kMaxKeyAttributeNameBytes = 255;
// Levels of nested values. An attribute's value is level 1, so a scalar may be wrapped in 31 lists and maps
// (SEM-017). The bound also limits our recursion.
inline constexpr int kMaxDepth = 32;
// Significant digits of a number, and the range of its decimal exponent (SEM-011).
inline constexpr int kMaxNumberDigits = 38;
inline constexpr int kMinNumberExponent = -130;
inline constexpr int kMaxNumberExponent = 125;

// In this order: the text of one expression (SEM-019), its operators (SEM-020), operands of one IN (SEM-021),
// a placeholder with its `#` or `:`, and the maps of names and values together (both SEM-022).
inline constexpr size_t kMaxExpressionBytes = 4'096;
inline constexpr int kMaxExpressionOperators = 300;
inline constexpr int kMaxInOperands = 100;
inline constexpr size_t kMaxPlaceholderBytes = 255;
inline constexpr size_t kMaxPlaceholderMapBytes = 2 << 20;

// Our own bounds for legacy parameters (SEM-112). Entries of one parameter: about as many as fit the text of
// one expression. Conditions, and the values of all conditions: no more than one expression may have, because
// each may cost a walk over every item that is read.
inline constexpr int kMaxLegacyEntries = 1'000;
inline constexpr int kMaxLegacyConditions = kMaxExpressionOperators;
inline constexpr size_t kMaxLegacyValues = 1'300;

// Names of tables and indexes, and the length of a table's ARN (SEM-008).
inline constexpr size_t kMinTableNameBytes = 3;
inline constexpr size_t kMaxTableNameBytes = 255;
inline constexpr size_t kMaxTableArnBytes = 1'024;
// Secondary indexes of a table (SEM-067) and attributes of an index's keys (SEM-077).
inline constexpr int kMaxGlobalSecondaryIndexes = 20;
inline constexpr int kMaxLocalSecondaryIndexes = 5;
inline constexpr int kMaxIndexPartitionAttributes = 4;
inline constexpr int kMaxIndexSortAttributes = 4;
// Vector indexes of a table, their dimensions and filters, and the items and bytes of one search (VEC-02).
inline constexpr int kMaxVectorIndexes = 5;
inline constexpr int kMaxVectorDimensions = 4'096;
inline constexpr int kMaxInlineFilters = 18;
inline constexpr int kMaxTopK = 100;
inline constexpr size_t kMaxSearchReplyBytes = 16 << 20;
// NonKeyAttributes of one index, and the sum over all INCLUDE indexes of a table (SEM-068).
inline constexpr int kMaxNonKeyAttributes = 20;
inline constexpr int kMaxNonKeyAttributesPerTable = 100;
// Tags of a table, and characters of their keys and values (OP-08).
inline constexpr int kMaxTags = 50;
inline constexpr size_t kMaxTagKeyCharacters = 128;
// Bytes of the endpoint of a write fence, which every refusal quotes.
inline constexpr size_t kMaxFenceEndpointBytes = 1'024;
inline constexpr size_t kMaxTagValueCharacters = 256;
// Name or ARN of an encryption key. The key is stored and shown, but never used (SEM-099).
inline constexpr size_t kMaxKmsKeyIdBytes = 2'048;
// The service's default quotas, which DescribeLimits returns (OP-06). Nothing here is limited by them.
inline constexpr int64_t kAccountCapacityUnits = 80'000;
inline constexpr int64_t kTableCapacityUnits = 40'000;
// Five years, in seconds. An item whose time to live ended longer ago is not deleted (SEM-108).
inline constexpr int64_t kMaxExpiredSeconds = int64_t{5} * 365 * 24 * 60 * 60;
// Tables of one database: as many as the service allows on request (its default is 2,500, SEM-094).
inline constexpr int kMaxTables = 10'000;
// Names in one page of ListTables (OP-04), and backups in one of ListBackups (BAK-14).
inline constexpr int kMaxListTables = 100;
inline constexpr int kMaxListBackups = 100;
// Days of a table's point-in-time recovery (PIT-03).
inline constexpr int kMaxRecoveryPeriodDays = 35;
// Tables that are being restored at a time (PIT-19), and backups that wait. Each backup that waits keeps a
// state of the database, so what is overwritten meanwhile stays on disk.
inline constexpr int kMaxRestoringTables = 50;
inline constexpr int kMaxWaitingBackups = 50;
// Exports that are not done, with states that wait like those of backups, and exports in one page of
// ListExports: at most, and by default (XPT-14).
inline constexpr int kMaxUnfinishedExports = 50;
inline constexpr int kMaxListExports = 25;
inline constexpr int kDefaultListExports = 10;
// Imports that run at a time (IMP-24), imports in one page of ListImports (IMP-22), characters of a prefix
// and bytes of the key of an object, objects of one import, and lines of its report (IMP-23). All but the
// last are the service's bounds.
inline constexpr size_t kMaxRunningImports = 50;
inline constexpr int kMaxListImports = 25;
inline constexpr int kDefaultListImports = 10;
inline constexpr size_t kMaxObjectKeyBytes = 1'024;
inline constexpr size_t kMaxImportObjects = 50'000;
inline constexpr int64_t kMaxReportedErrors = 10'000;
inline constexpr int kMaxCsvColumns = 255;
// How long imports are shown after their end.
inline constexpr int kImportDays = 90;
// Bulk puts that have not ended, bulk puts in one page of ListBulkOperations: at most, and by default
// (BLK-09); bytes of an object (BLK-10), the least rate that may be asked for (BLK-01), how long a client
// token is known (BLK-04), and how long bulk puts are shown after their end. The first is our own bound.
inline constexpr int kMaxUnfinishedBulkPuts = 50;
inline constexpr int kMaxListBulkOperations = 25;
inline constexpr int kDefaultListBulkOperations = 10;
inline constexpr uint64_t kMaxBulkObjectBytes = uint64_t{5} << 30;
inline constexpr int64_t kMinBulkWriteUnits = 1'024;
inline constexpr int kBulkTokenHours = 8;
inline constexpr int kBulkOperationDays = 90;

// Bytes of items read for one page of Query or Scan (SEM-027).
inline constexpr size_t kMaxPageBytes = 1 << 20;
// How long a stream's pages may read one pinned snapshot. While it is pinned, overwritten and deleted data
// stays on disk, and a store that failed cannot be reopened.
inline constexpr int kMaxPinnedSnapshotSeconds = 60;
// Keys in BatchGetItem, and bytes of its reply (SEM-043). The reply's bound is the default below, which fits
// gRPC's default message limit of 4 MiB; a caller may ask for up to kMaxBatchGetBytes.
inline constexpr int kMaxBatchGets = 100;
inline constexpr int kMaxBatchGetBytes = 16 << 20;
inline constexpr size_t kDefaultBatchGetBytes = 3 << 20;
// Segments of a parallel scan (SEM-033). A table is split into at most kMaxScanRanges key ranges for them:
// more ranges than scanning threads bring nothing. A table or an index has kMaxSplits sets of split points;
// they stay as long as it exists.
inline constexpr int32_t kMaxScanSegments = 1'000'000;
inline constexpr int32_t kMaxScanRanges = 1'024;
inline constexpr size_t kMaxSplits = 16;
// PartiQL: characters of a statement, statements in a batch (PQL-12); values of the partition key that one
// SELECT may read, items of its page when there are several values (PQL-08); characters of a NextToken (the
// service's bound).
inline constexpr size_t kMaxStatementCharacters = 8'192;
inline constexpr int kMaxBatchStatements = 25;
inline constexpr int kMaxPartitionsOfSelect = 50;
inline constexpr int kMaxItemsOfManyPartitions = 10;
inline constexpr size_t kMaxNextTokenCharacters = 32'768;
// Nested parentheses and functions in a statement. Our own bound, for the parser's recursion; a literal adds
// at most kMaxDepth levels. Real conditions are far less deep.
inline constexpr int kMaxStatementNesting = 100;
// Writes in BatchWriteItem (SEM-045), actions and request bytes in TransactWriteItems (SEM-047).
inline constexpr int kMaxBatchWrites = 25;
inline constexpr int kMaxTransactActions = 100;
inline constexpr size_t kMaxTransactBytes = 4 << 20;
// Actions of a transaction with `large` set, which allows more than the service does (SEM-057). The request,
// or the items that the transaction reads, may be as long as a message. Our own bound: the commit pipeline
// applies some hundred thousand actions a second, and every other write waits meanwhile.
inline constexpr int kMaxLargeTransactActions = 10'000;
// Bytes that a large transaction, or a chunk of BulkWrite, may read and write, index entries included. All
// these bytes are in memory, and in one RocksDB write, at the same time. A request of the maximum length fits
// together with the items that it replaces and three copies in indexes.
inline constexpr size_t kMaxUnitItemBytes = 64 << 20;
// Bytes of replaced items that a transaction or batch may prefetch while it waits for its turn. It reads the
// other replaced items at its turn: 100 items may have 40 MB, and many transactions may wait.
inline constexpr size_t kMaxUnitPrefetchedBytes = 4 << 20;
// Bytes of replaced items that a BulkWrite chunk may prefetch while it waits for its turn, and how many
// chunks of all streams may prefetch at a time. The other chunks read the replaced items at their turn. The
// product is kMaxUnitItemBytes.
inline constexpr size_t kMaxChunkPrefetchedBytes = 4 << 20;
inline constexpr int kMaxPrefetchingChunks = 16;
// Items before and after a transaction, where change records carry them, and the keys and envelopes of its
// change records. The change records of one commit are read together and must fit one reply, after up to a
// page of other records. Our own bounds: the service limits only the request.
inline constexpr size_t kMaxCommitImageBytes = 12 << 20;
inline constexpr size_t kMaxCommitKeyBytes = 3 << 20;
// Writes in one chunk of BulkWrite, and its bytes (EXT-03). One full chunk fills a commit group.
inline constexpr int kMaxBulkChunkWrites = 1'000;
inline constexpr size_t kMaxBulkChunkBytes = 4 << 20;
// A client request token: its characters, and how long the server remembers it (SEM-050). The number of
// remembered tokens is bounded only so that they cannot fill any disk: 166,000 new ones a second for 10
// minutes fit, about 150 bytes each.
inline constexpr size_t kMaxRequestTokenBytes = 36;
inline constexpr int kRequestTokenMinutes = 10;
inline constexpr int64_t kMaxRequestTokens = 100'000'000;
// Bytes stored for all tokens, including the attributes that their replies showed.
inline constexpr int64_t kMaxRequestTokensBytes = int64_t{32} << 30;
// Bytes stored for the writes that one BulkWrite chunk rejected. Beyond it their messages are not stored.
inline constexpr size_t kMaxKeptRejectionsBytes = 4'096;
// Records in one page of ReadChanges: the service's bound of GetRecords (SEM-105).
inline constexpr int kMaxReadChanges = 1'000;
// Holds of the change log that have not ended, their names, and how long one lives without being renewed
// (SEM-103).
inline constexpr int kMaxChangeHolds = 100;
inline constexpr size_t kMaxChangeHoldNameBytes = 255;
inline constexpr int kDefaultChangeHoldLeaseSeconds = 24 * 3'600;
inline constexpr int kMaxChangeHoldLeaseSeconds = 30 * 24 * 3'600;
// Commits by which readers make holds, move them back or lengthen their leases: at once, as many as make all
// holds twice, and then in a second. Readers need the role `read` only, so they must not keep the disk busy.
// Plain renewals need none; releases are not counted, because there are no more of them than holds made.
inline constexpr int kHoldCommitsBurst = 2 * kMaxChangeHolds;
inline constexpr int kHoldCommitsPerSecond = 10;
// How often a watch gets a reply when there are no changes. Often enough that callers notice a lost daemon,
// and seldom enough for thousands of watches.
inline constexpr int kDefaultProgressIntervalMs = 5'000;
inline constexpr int kMinProgressIntervalMs = 10;
inline constexpr int kMaxProgressIntervalMs = 60'000;
// Streams in one page of ListStreams and shards in one of DescribeStream (SEM-106); how long a shard iterator
// is valid (SEM-104), and its characters.
inline constexpr int kMaxListStreams = 100;
inline constexpr int kShardIteratorMinutes = 15;
inline constexpr size_t kMaxShardIteratorCharacters = 2'048;

// ---- the engine's bounds -------------------------------------------------------------------------

// A request or reply message: 16 MiB of data (SEM-018) and room for its envelope.
inline constexpr int kMaxMessageBytes = 17 << 20;
// Encoded bytes of an item, and encoded items of a page before the item that ends the page. A number's size
// in the data model is small, but the number is stored in full ("1e125" has 126 digits). So an item within
// kMaxItemBytes could be longer than a message. A page is at most 8 MiB of items plus its last item of at
// most 8 MiB, which fits a message.
inline constexpr size_t kMaxEncodedItemBytes = 8 << 20;
inline constexpr size_t kMaxEncodedPageBytes = 8 << 20;
// Bytes of writes waiting for the commit pipeline. At 90,000 writes/s of 500 bytes this is more than a second
// of work; refusing more at once serves callers better than waiting.
// Bytes of one commit group. Smaller groups made the 99th percentile worse; above a few MiB nothing is
// gained.
inline constexpr size_t kMaxCommitGroupBytes = 4 << 20;
// Units above this size leave half of the queue of waiting writes to smaller ones, which go on while many
// large ones are refused.
inline constexpr size_t kLargeCommitUnitBytes = 1 << 20;
// Expired items, and their bytes, that one commit unit deletes: writes wait a few milliseconds for the unit.
// At most one of these units is in the pipeline.
inline constexpr size_t kExpiredAtOnce = 256;
inline constexpr size_t kExpiredBytesAtOnce = 1 << 20;
// Items that one page reads on the thread of the request. A longer page moves to an I/O thread, so that it
// does not delay other requests.
inline constexpr int kMaxItemsOnRequestThread = 256;
// Keys of deleted items that the request's thread passes before the next item. Then the page moves to an I/O
// thread.
inline constexpr uint64_t kMaxSkippedOnRequestThread = 2'000;
// Items that an I/O thread evaluates before the page lets other reads run: some ten milliseconds of work.
// Only counts of whole ranges and pages of tiny items are longer.
inline constexpr int kMaxItemsOnIoThread = 20'000;
// Reads waiting for an I/O thread.
inline constexpr size_t kMaxIoQueue = 4'096;
// Access patterns with statistics of their own (SEED-049): in the database, and of one table, so that one
// table does not use up the room of all others; bytes of the text of one pattern's key condition and filter.
// Together at most some megabytes.
inline constexpr int kMaxAccessPatterns = 1'000;
inline constexpr int kMaxTableAccessPatterns = 200;
// Keys that each list of the most used keys of a table or index keeps, and how many GetTopKeys answers
// (OP-56).
inline constexpr size_t kMaxCountedKeys = 1'000;
inline constexpr int kDefaultTopKeys = 10;
inline constexpr int kMaxTopKeys = 100;
// Tables and indexes in a page of ListContributorInsights, also by default (OP-58).
inline constexpr int kMaxListContributorInsights = 100;
inline constexpr size_t kMaxShapeBytes = 1'024;
// Findings that a check lists. The check counts all findings.
inline constexpr int kMaxFindings = 100;

}  // namespace itemdb::storage
