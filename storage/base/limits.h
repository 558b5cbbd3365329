// Every bound of the data model and of the engine, each with its reason. A request is checked against these
// once, before it enters the commit pipeline.
#pragma once

#include <cstddef>
#include <cstdint>

namespace itemdb {

// ---- the data model's limits (semantics of the service; row ids in parentheses) ------------------

// Size of an item by the counting of SEM-002, inclusive (SEM-001).
inline constexpr size_t kMaxItemBytes = 409'600;
// Partition key: sum over its attributes; sort key likewise (SEM-006, SEM-084).
inline constexpr size_t kMaxPartitionKeyBytes = 2'048;
inline constexpr size_t kMaxSortKeyBytes = 1'024;
// Attribute names: UTF-8 bytes; key, index and projected names (SEM-009).
inline constexpr size_t kMaxAttributeNameBytes = 65'535;
inline constexpr size_t kMaxKeyAttributeNameBytes = 255;
// Levels of lists and maps, counting the item's own top level as the first: a value may be wrapped in 31 of
// them (SEM-017). Also bounds our recursion.
inline constexpr int kMaxDepth = 32;
// Significant digits of a number and its exponents (SEM-011).
inline constexpr int kMaxNumberDigits = 38;
inline constexpr int kMinNumberExponent = -130;
inline constexpr int kMaxNumberExponent = 125;

// Text of one expression (SEM-019), operators in it (SEM-020), operands of IN (SEM-021), a placeholder token
// with its
// `#` or `:` (SEM-022), names and values maps together (SEM-022).
inline constexpr size_t kMaxExpressionBytes = 4'096;
inline constexpr int kMaxExpressionOperators = 300;
inline constexpr int kMaxInOperands = 100;
inline constexpr size_t kMaxPlaceholderBytes = 255;
inline constexpr size_t kMaxPlaceholderMapBytes = 2 << 20;

// Entries of a legacy parameter (SEM-112): about as many as fit the text of an expression. Those that are
// conditions, and their values in all: no more than an expression may have, as each may cost a walk over
// every item that is read. Our own bounds.
inline constexpr int kMaxLegacyEntries = 1'000;
inline constexpr int kMaxLegacyConditions = kMaxExpressionOperators;
inline constexpr size_t kMaxLegacyValues = 1'300;

// Table and index names (SEM-008).
inline constexpr size_t kMinTableNameBytes = 3;
inline constexpr size_t kMaxTableNameBytes = 255;
inline constexpr size_t kMaxTableArnBytes = 1'024;
// Secondary indexes of a table (SEM-067) and attributes of their keys (SEM-077).
inline constexpr int kMaxGlobalSecondaryIndexes = 20;
inline constexpr int kMaxLocalSecondaryIndexes = 5;
inline constexpr int kMaxIndexPartitionAttributes = 4;
inline constexpr int kMaxIndexSortAttributes = 4;
// NonKeyAttributes of one index and over all INCLUDE indexes of a table (SEM-068).
inline constexpr int kMaxNonKeyAttributes = 20;
inline constexpr int kMaxNonKeyAttributesPerTable = 100;
// Tags of a table, and characters of their keys and values (OP-08).
inline constexpr int kMaxTags = 50;
inline constexpr size_t kMaxTagKeyCharacters = 128;
inline constexpr size_t kMaxTagValueCharacters = 256;
// Name or ARN of an encryption key, which is only kept and shown (SEM-099).
inline constexpr size_t kMaxKmsKeyIdBytes = 2'048;
// The service's default quotas, for DescribeLimits (OP-06). Nothing here is limited by them.
inline constexpr int64_t kAccountCapacityUnits = 80'000;
inline constexpr int64_t kTableCapacityUnits = 40'000;
// Items whose time to live came to an end longer ago than this, in seconds, are not deleted for it (SEM-108):
// five years.
inline constexpr int64_t kMaxExpiredSeconds = int64_t{5} * 365 * 24 * 60 * 60;
// Tables of one database: as many as the service gives on request (SEM-094 has the limit without one).
inline constexpr int kMaxTables = 10'000;
// Names in one page of ListTables (OP-04).
inline constexpr int kMaxListTables = 100;

// Bytes of items read for one page of Query or Scan (SEM-027).
inline constexpr size_t kMaxPageBytes = 1 << 20;
// How long one state is held for the pages of a stream: what is overwritten or deleted meanwhile keeps its
// place on disk, and a store that failed cannot be reopened.
inline constexpr int kMaxHeldStateSeconds = 60;
// Keys in BatchGetItem, and bytes of its reply (SEM-043): at most, and unless the caller asks for more, below
// gRPC's default limit of 4 MiB.
inline constexpr int kMaxBatchGets = 100;
inline constexpr int kMaxBatchGetBytes = 16 << 20;
inline constexpr size_t kDefaultBatchGetBytes = 3 << 20;
// Segments of a parallel scan (SEM-033); key ranges a table is split into for them, and for how many numbers
// of segments at a time. More ranges than there are threads to scan them bring nothing.
inline constexpr int32_t kMaxScanSegments = 1'000'000;
inline constexpr int32_t kMaxScanRanges = 1'024;
inline constexpr size_t kMaxSplits = 16;
// A PartiQL statement: its characters, statements in a batch (PQL-12); values of the partition key that one
// SELECT reads and items of its page when there are several (PQL-08); characters of a NextToken, as the
// service has it.
inline constexpr size_t kMaxStatementCharacters = 8'192;
inline constexpr int kMaxBatchStatements = 25;
inline constexpr int kMaxPartitionsOfSelect = 50;
inline constexpr int kMaxItemsOfManyPartitions = 10;
inline constexpr size_t kMaxNextTokenCharacters = 32'768;
// Levels of parentheses and functions inside each other in a statement. Our own bound, of the parser's
// recursion, to which a literal adds kMaxDepth at most; nobody writes conditions as deep.
inline constexpr int kMaxStatementNesting = 100;
// Writes in BatchWriteItem (SEM-045), actions and request bytes in TransactWriteItems (SEM-047).
inline constexpr int kMaxBatchWrites = 25;
inline constexpr int kMaxTransactActions = 100;
inline constexpr size_t kMaxTransactBytes = 4 << 20;
// Actions of a transaction that asks for more than the service allows (`large`, SEM-057); its request, or the
// items it gets, may be as long as a message. Our own bound: the writer orders some hundred thousand actions
// a second, and every other write waits meanwhile.
inline constexpr int kMaxLargeTransactActions = 10'000;
// What such a transaction, or a chunk of BulkWrite, reads and makes, index entries included: all of it is in
// memory, and in one RocksDB write, at once. A request of any length within this leaves room for what it
// replaces and three copies in indexes.
inline constexpr size_t kMaxUnitItemBytes = 64 << 20;
// What a chunk of BulkWrite carries of that while it waits for its turn, and how many chunks of all streams
// do; what the others replace is read again at their turn. Together as much as one unit may hold.
inline constexpr size_t kMaxChunkCarriedBytes = 4 << 20;
inline constexpr int kMaxCarryingChunks = 16;
// Items before and after a transaction, where change records carry them; and the keys and envelopes of its
// change records. Records of one commit are read together and must fit a reply, after up to a page of others.
// Our own bounds: the service limits the request only.
inline constexpr size_t kMaxCommitImageBytes = 12 << 20;
inline constexpr size_t kMaxCommitKeyBytes = 3 << 20;
// Writes in one chunk of BulkWrite, and its bytes: one chunk fills a commit group (EXT-03).
inline constexpr int kMaxBulkChunkWrites = 1'000;
inline constexpr size_t kMaxBulkChunkBytes = 4 << 20;
// A client request token: its characters, how long it is remembered (SEM-050), and how many are at most, so
// that they cannot fill the disk: 8,000 new ones a second for all that time.
inline constexpr size_t kMaxRequestTokenBytes = 36;
inline constexpr int kRequestTokenMinutes = 10;
inline constexpr int64_t kMaxRequestTokens = 5'000'000;
// Bytes that are kept for them, the attributes their replies showed included.
inline constexpr int64_t kMaxRequestTokensBytes = int64_t{1} << 30;
// Of that, for the writes that one chunk rejected; beyond it their messages are not kept.
inline constexpr size_t kMaxKeptRejectionsBytes = 4'096;
// Records in one page of ReadChanges (as SEM-105).
inline constexpr int kMaxReadChanges = 1'000;
// How often a watch is told that there was nothing. Often enough for callers to notice a lost daemon, and
// seldom enough for thousands of them.
inline constexpr int kDefaultProgressIntervalMs = 5'000;
inline constexpr int kMinProgressIntervalMs = 10;
inline constexpr int kMaxProgressIntervalMs = 60'000;
// Streams in one page of ListStreams, shards in one of DescribeStream (SEM-106); how long a shard iterator
// may be used (SEM-104), and its characters.
inline constexpr int kMaxListStreams = 100;
inline constexpr int kShardIteratorMinutes = 15;
inline constexpr size_t kMaxShardIteratorCharacters = 2'048;

// ---- the engine's bounds -------------------------------------------------------------------------

// A request or reply message: 16 MiB of data (SEM-018) and room for its envelope.
inline constexpr int kMaxMessageBytes = 17 << 20;
// An item as encoded, and the items of a page as encoded before the one that ends it. Numbers count for
// little and are written out in full ("1e125" has 126 digits), so an item within kMaxItemBytes could be
// longer than a message: two halves of one are what a page can hold.
inline constexpr size_t kMaxEncodedItemBytes = 8 << 20;
inline constexpr size_t kMaxEncodedPageBytes = 8 << 20;
// Writes waiting for the commit pipeline. At 90,000 writes/s of 500 bytes this is more than a second of work;
// beyond it, refusing at once serves callers better than waiting.
inline constexpr size_t kDefaultMaxQueueBytes = 64 << 20;
// One commit group. Small groups made the 99th percentile worse, not better; beyond a few MiB nothing is
// gained.
inline constexpr size_t kMaxCommitGroupBytes = 4 << 20;
// Expired items, and bytes of them, that are deleted by one unit of the commit pipeline: a few milliseconds
// during which writes wait. One unit at a time is under way.
inline constexpr size_t kExpiredAtOnce = 256;
inline constexpr size_t kExpiredBytesAtOnce = 1 << 20;
// Items read for a page on the thread that carries the request; longer pages move to an I/O thread so that
// one page cannot hold up other requests.
inline constexpr int kMaxItemsOnRequestThread = 256;
// Keys of deleted items passed there on the way to the next item; on the way past more the page moves to an
// I/O thread.
inline constexpr uint64_t kMaxSkippedOnRequestThread = 2'000;
// Items evaluated by an I/O thread before the page makes way for other reads: some ten milliseconds' work.
// Only counts of whole ranges and pages of tiny items are longer.
inline constexpr int kMaxItemsOnIoThread = 20'000;
// Reads waiting for an I/O thread.
inline constexpr size_t kMaxIoQueue = 4'096;
// Access patterns that are told apart (SEED-049), in the database and of one table, so that no table takes
// the room of all others; bytes of one's key condition and filter. Together some megabytes at most.
inline constexpr int kMaxAccessPatterns = 1'000;
inline constexpr int kMaxTableAccessPatterns = 200;
inline constexpr size_t kMaxShapeBytes = 1'024;
// Findings a check lists; it counts all.
inline constexpr int kMaxFindings = 100;

}  // namespace itemdb
