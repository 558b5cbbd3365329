// Requests and results of the data operations. They follow DynamoDB's names and rules. The daemon checks the
// rules; this library does not. Plain data, for designated initializers; the operations are in client.h.
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "itemdb/capacity.h"
#include "itemdb/value.h"

namespace itemdb {

// Placeholders of expressions: "#name" -> attribute name and ":value" -> value. An expression must use each
// placeholder that is given.
using ExpressionAttributeNames = std::map<std::string, std::string>;
using ExpressionAttributeValues = std::map<std::string, Value>;

// What a successful write returns. kUpdatedOld, kAllNew and kUpdatedNew are for UpdateItem only.
enum class ReturnValues { kNone, kAllOld, kUpdatedOld, kAllNew, kUpdatedNew };

// What a write whose condition was false returns: nothing, or the stored item.
enum class ReturnValuesOnConditionCheckFailure { kNone, kAllOld };

// ---- single writes and point reads ---------------------------------------------------------------

// Creates an item or replaces it whole.
struct PutItemRequest {
  std::string table_name;
  Item item;
  // The write happens only when this condition is true for the stored item. Default: no condition.
  std::string condition_expression = "";
  ExpressionAttributeNames expression_attribute_names = {};
  ExpressionAttributeValues expression_attribute_values = {};
  // kNone or kAllOld.
  ReturnValues return_values = ReturnValues::kNone;
  ReturnValuesOnConditionCheckFailure return_values_on_condition_check_failure =
      ReturnValuesOnConditionCheckFailure::kNone;
  ReturnConsumedCapacity return_consumed_capacity = ReturnConsumedCapacity::kNone;
  ReturnItemCollectionMetrics return_item_collection_metrics = ReturnItemCollectionMetrics::kNone;
};

// Changes attributes of an item, creating it when it is missing.
struct UpdateItemRequest {
  std::string table_name;
  // Exactly the key attributes.
  Item key;
  // SET, REMOVE, ADD and DELETE clauses.
  std::string update_expression = "";
  std::string condition_expression = "";
  ExpressionAttributeNames expression_attribute_names = {};
  ExpressionAttributeValues expression_attribute_values = {};
  ReturnValues return_values = ReturnValues::kNone;
  ReturnValuesOnConditionCheckFailure return_values_on_condition_check_failure =
      ReturnValuesOnConditionCheckFailure::kNone;
  ReturnConsumedCapacity return_consumed_capacity = ReturnConsumedCapacity::kNone;
  ReturnItemCollectionMetrics return_item_collection_metrics = ReturnItemCollectionMetrics::kNone;
};

// Removes an item; removing a missing item succeeds.
struct DeleteItemRequest {
  std::string table_name;
  // Exactly the key attributes.
  Item key;
  std::string condition_expression = "";
  ExpressionAttributeNames expression_attribute_names = {};
  ExpressionAttributeValues expression_attribute_values = {};
  // kNone or kAllOld.
  ReturnValues return_values = ReturnValues::kNone;
  ReturnValuesOnConditionCheckFailure return_values_on_condition_check_failure =
      ReturnValuesOnConditionCheckFailure::kNone;
  ReturnConsumedCapacity return_consumed_capacity = ReturnConsumedCapacity::kNone;
  ReturnItemCollectionMetrics return_item_collection_metrics = ReturnItemCollectionMetrics::kNone;
};

// Of PutItem, UpdateItem and DeleteItem.
struct WriteResult {
  uint64_t change_sequence = 0;
  // What `return_values` asked for; empty when there is nothing to return.
  std::optional<Item> attributes;
  std::optional<ConsumedCapacity> consumed_capacity = std::nullopt;
  // Set only if the request asked for metrics and the table has local secondary indexes.
  std::optional<ItemCollectionMetrics> item_collection_metrics = std::nullopt;
};

struct GetItemRequest {
  std::string table_name;
  // Exactly the key attributes.
  Item key;
  // Attributes to return. Default: all.
  std::string projection_expression = "";
  ExpressionAttributeNames expression_attribute_names = {};
  // Doubles the reported consumed capacity and has no other effect: every read is consistent.
  bool consistent_read = false;
  ReturnConsumedCapacity return_consumed_capacity = ReturnConsumedCapacity::kNone;
};

struct GetItemResult {
  uint64_t change_sequence = 0;
  // Empty when there is no such item.
  std::optional<Item> item;
  std::optional<ConsumedCapacity> consumed_capacity = std::nullopt;
};

// ---- several reads -------------------------------------------------------------------------------

// Items of one table by their keys; fields as in GetItemRequest.
struct KeysAndAttributes {
  std::string table_name;
  // At least one, none twice.
  std::vector<Item> keys = {};
  // The client also reads the key attributes, to find out which item belongs to which key; it removes them
  // from the results if the projection does not name them. At most about 4,000 bytes.
  std::string projection_expression = "";
  ExpressionAttributeNames expression_attribute_names = {};
  bool consistent_read = false;
};

struct BatchGetItemRequest {
  // One entry for each table. Any number of keys: more than 100, the daemon's limit, are sent as several
  // batches, one after the other. Each batch is read from the state at its own moment.
  std::vector<KeysAndAttributes> request_items = {};
  ReturnConsumedCapacity return_consumed_capacity = ReturnConsumedCapacity::kNone;
};

struct BatchGetItemResult {
  // Of the last batch.
  uint64_t change_sequence = 0;
  struct Table {
    std::string table_name;
    // One for each key, in the order of the keys; empty where there is no such item.
    std::vector<std::optional<Item>> items;
  };
  // One for each entry of the request, in the order of the request.
  std::vector<Table> tables;
  // One for each table, summed over all batches.
  std::vector<ConsumedCapacity> consumed_capacity = {};
};

// Fields as in GetItemRequest.
struct TransactGet {
  std::string table_name;
  Item key;
  std::string projection_expression = "";
  ExpressionAttributeNames expression_attribute_names = {};
};

struct TransactGetItemsRequest {
  // 1 to 100 items of any tables, none twice; the items together have at most 4 MiB.
  std::vector<TransactGet> gets;
  // Lifts DynamoDB's limits: up to 10,000 items with at most 16 MiB together.
  bool large = false;
  ReturnConsumedCapacity return_consumed_capacity = ReturnConsumedCapacity::kNone;
};

// All read from one state.
struct TransactGetItemsResult {
  uint64_t change_sequence = 0;
  // One for each get, in the order of the gets; empty where there is no such item.
  std::vector<std::optional<Item>> items;
  // One for each table.
  std::vector<ConsumedCapacity> consumed_capacity = {};
};

// ---- several writes ------------------------------------------------------------------------------

struct BatchPut {
  std::string table_name;
  Item item;
};

struct BatchDelete {
  std::string table_name;
  // Exactly the key attributes.
  Item key;
};

using BatchWrite = std::variant<BatchPut, BatchDelete>;

struct BatchWriteItemRequest {
  // Independent writes to any tables, no two on the same item. More writes than the daemon's limit of 25
  // writes or 16 MiB are sent as several batches, one after the other, in this order. Not atomic.
  std::vector<BatchWrite> writes;
  ReturnConsumedCapacity return_consumed_capacity = ReturnConsumedCapacity::kNone;
  ReturnItemCollectionMetrics return_item_collection_metrics = ReturnItemCollectionMetrics::kNone;
};

// Every write was applied. The client sends writes again that the daemon returned as unprocessed; a write
// that is still not applied in the end makes the whole call an error, see BatchWriteOutcomes().
struct BatchWriteItemResult {
  // Of the last batch.
  uint64_t change_sequence = 0;
  // One for each table, summed over all batches.
  std::vector<ConsumedCapacity> consumed_capacity = {};
  // The size after the last batch that wrote to the item collection.
  TableItemCollectionMetrics item_collection_metrics = {};
};

// Actions of a transaction; fields as in the single requests.
struct TransactPut {
  std::string table_name;
  Item item;
  std::string condition_expression = "";
  ExpressionAttributeNames expression_attribute_names = {};
  ExpressionAttributeValues expression_attribute_values = {};
  ReturnValuesOnConditionCheckFailure return_values_on_condition_check_failure =
      ReturnValuesOnConditionCheckFailure::kNone;
};

struct TransactUpdate {
  std::string table_name;
  Item key;
  // Required.
  std::string update_expression;
  std::string condition_expression = "";
  ExpressionAttributeNames expression_attribute_names = {};
  ExpressionAttributeValues expression_attribute_values = {};
  ReturnValuesOnConditionCheckFailure return_values_on_condition_check_failure =
      ReturnValuesOnConditionCheckFailure::kNone;
};

struct TransactDelete {
  std::string table_name;
  Item key;
  std::string condition_expression = "";
  ExpressionAttributeNames expression_attribute_names = {};
  ExpressionAttributeValues expression_attribute_values = {};
  ReturnValuesOnConditionCheckFailure return_values_on_condition_check_failure =
      ReturnValuesOnConditionCheckFailure::kNone;
};

// Writes nothing. When its condition is false, the transaction is cancelled.
struct ConditionCheck {
  std::string table_name;
  Item key;
  // Required.
  std::string condition_expression;
  ExpressionAttributeNames expression_attribute_names = {};
  ExpressionAttributeValues expression_attribute_values = {};
  ReturnValuesOnConditionCheckFailure return_values_on_condition_check_failure =
      ReturnValuesOnConditionCheckFailure::kNone;
};

using TransactAction = std::variant<TransactPut, TransactUpdate, TransactDelete, ConditionCheck>;

struct TransactWriteItemsRequest {
  // 1 to 100 actions on any tables, no two on the same item. The request has at most 4 MiB.
  std::vector<TransactAction> actions;
  // Lifts DynamoDB's limits: up to 10,000 actions with at most 16 MiB together.
  bool large = false;
  ReturnConsumedCapacity return_consumed_capacity = ReturnConsumedCapacity::kNone;
  ReturnItemCollectionMetrics return_item_collection_metrics = ReturnItemCollectionMetrics::kNone;
};

struct TransactWriteItemsResult {
  uint64_t change_sequence = 0;
  // One for each table.
  std::vector<ConsumedCapacity> consumed_capacity = {};
  TableItemCollectionMetrics item_collection_metrics = {};
};

// ---- pages ---------------------------------------------------------------------------------------

// What a page contains.
enum class Select {
  // The attributes that the projection names; without a projection whole items of a table, and the projected
  // attributes of an index.
  kDefault,
  // Whole items; of a global index only when the index projects all attributes.
  kAllAttributes,
  // The attributes that the index holds; only for indexes.
  kAllProjectedAttributes,
  // The attributes that the projection names; a projection is required.
  kSpecificAttributes,
  // No items, only their number.
  kCount,
};

// Items of one item collection, of a table or an index, in sort-key order.
struct QueryRequest {
  std::string table_name;
  // Default: the table itself.
  std::string index_name = "";
  // Equality on every partition-key attribute, and at most one range over the sort-key attributes.
  std::string key_condition_expression = "";
  // Drops items after they were read and counted against `limit`.
  std::string filter_expression = "";
  // Attributes to return. Default: all that the table or index holds.
  std::string projection_expression = "";
  ExpressionAttributeNames expression_attribute_names = {};
  ExpressionAttributeValues expression_attribute_values = {};
  // Items to evaluate in one page, at least 1. Default: a page ends at 1 MiB of items read.
  std::optional<int32_t> limit = std::nullopt;
  // The `last_evaluated_key` of the page before. Default: the first page.
  std::optional<Item> exclusive_start_key = std::nullopt;
  // False: descending sort-key order.
  bool scan_index_forward = true;
  Select select = Select::kDefault;
  // With Select::kCount and without `limit`: counts the whole range in this one call, from one state, even if
  // the range has many pages.
  bool count_all = false;
  // Doubles the reported consumed capacity and has no other effect: every read is consistent.
  bool consistent_read = false;
  ReturnConsumedCapacity return_consumed_capacity = ReturnConsumedCapacity::kNone;
  // Adds `plan` to the result.
  bool explain = false;
  // Skips records that cannot be read; `skipped_damage` of the page says where. Only in key order, and not in
  // a parallel scan. By default such a record fails the page with DATA_LOSS.
  bool skip_damage = false;
};

// All items of a table or all entries of an index, in key order. Fields as in QueryRequest.
struct ScanRequest {
  std::string table_name;
  std::string index_name = "";
  std::string filter_expression = "";
  std::string projection_expression = "";
  ExpressionAttributeNames expression_attribute_names = {};
  ExpressionAttributeValues expression_attribute_values = {};
  std::optional<int32_t> limit = std::nullopt;
  std::optional<Item> exclusive_start_key = std::nullopt;
  // A parallel scan: this page belongs to segment 0 to `total_segments` - 1. No item is in two segments, and
  // every item is in one, even while other clients write. Both or none; `total_segments` is 1 to 1,000,000.
  std::optional<int32_t> segment = std::nullopt;
  std::optional<int32_t> total_segments = std::nullopt;
  Select select = Select::kDefault;
  bool count_all = false;
  bool consistent_read = false;
  ReturnConsumedCapacity return_consumed_capacity = ReturnConsumedCapacity::kNone;
  bool explain = false;
  // Skips records that cannot be read; `skipped_damage` of the page says where. Only in key order, and not in
  // a parallel scan. By default such a record fails the page with DATA_LOSS.
  bool skip_damage = false;
};

// How a page was read.
struct ReadPlan {
  // Empty for the table itself.
  std::string index_name;
  // The key range in the notation of expressions, for example `PK = "a" AND SK >= "b"`; empty: whole table or
  // index.
  std::string key_range;
  // The range as bytes of the daemon's key encoding; includes the lower bound and excludes the upper bound.
  // Empty where there is no bound.
  std::string lower_bound;
  std::string upper_bound;
  // False when the range is read from its end.
  bool forward = true;
  // Bytes of items read for this page.
  int64_t bytes_read = 0;
  // Items of the table that were also read because the local index does not hold all requested attributes.
  int64_t base_items_read = 0;
};

// Of QueryStream and ScanStream.
struct StreamOptions {
  // All pages are read from the state of the first page. The program must read the whole stream within a
  // minute of its beginning, on one connection; otherwise the stream ends with ABORTED (STATE_TOO_OLD).
  bool one_state = false;
};

// A place where records cannot be read: between two keys, in the form of a LastEvaluatedKey. A key is missing
// where the page has read no record on that side.
struct SkippedDamage {
  std::optional<Item> after_key;
  std::optional<Item> before_key;
};

// Of Query and Scan.
struct ItemPage {
  uint64_t change_sequence = 0;
  std::vector<Item> items;
  // `count`: items in this page, after the filter. `scanned_count`: items evaluated, before the filter.
  int64_t count = 0;
  int64_t scanned_count = 0;
  // Set if and only if items may remain: pass it as `exclusive_start_key`.
  std::optional<Item> last_evaluated_key;
  std::optional<ConsumedCapacity> consumed_capacity = std::nullopt;
  // With `explain`.
  std::optional<ReadPlan> plan = std::nullopt;
  // With `skip_damage`.
  std::vector<SkippedDamage> skipped_damage = {};
};

// The items of a vector index whose vectors are nearest to `search_vector`.
struct SearchVectorsRequest {
  std::string table_name;
  std::string index_name;
  // As many finite numbers as the index has dimensions.
  std::vector<float> search_vector = {};
  // How many items to return at most, 1 to 100.
  int32_t top_k = 10;
  // `attribute = :value` for attributes of the index's search schema, joined by AND. An index with a kHash
  // attribute needs it.
  std::string search_condition_expression = "";
  // Attributes to return. Default: all that the index holds but the vector.
  std::string projection_expression = "";
  ExpressionAttributeNames expression_attribute_names = {};
  ExpressionAttributeValues expression_attribute_values = {};
  ReturnConsumedCapacity return_consumed_capacity = ReturnConsumedCapacity::kNone;
};

struct SearchResult {
  Item item;
  // By the distance function of the index: kCosine 1 minus the cosine, kEuclidean the distance, both nearer
  // if lower; kDotProduct the product, nearer if higher.
  float score = 0;
};

struct SearchVectorsResult {
  uint64_t change_sequence = 0;
  // Nearest first; equally near ones in the order of their primary keys.
  std::vector<SearchResult> search_results;
  // If the request asks for the consumed capacity.
  std::optional<int64_t> vector_search_request_bytes = std::nullopt;
};

}  // namespace itemdb
