// Requests and results of the data operations. They follow DynamoDB's names and rules; the daemon judges
// them, this library does not. Plain data, for designated initializers; the operations are in client.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "itemdb/capacity.h"
#include "itemdb/value.h"

namespace itemdb {
inline namespace client {

// Placeholders of expressions: "#name" -> attribute name and ":value" -> value. Each given one must be used.
using ExpressionAttributeNames = std::map<std::string, std::string>;
using ExpressionAttributeValues = std::map<std::string, Value>;

// What a successful write returns. The UPDATED ones and kAllNew are for UpdateItem only.
enum class ReturnValues { kNone, kAllOld, kUpdatedOld, kAllNew, kUpdatedNew };

// What a write whose condition was false returns: nothing, or the stored item.
enum class ReturnValuesOnConditionCheckFailure { kNone, kAllOld };

// ---- single writes and point reads ---------------------------------------------------------------

// Creates an item or replaces it whole.
struct PutItemRequest {
  std::string table_name;
  Item item;
  // The write happens only when this holds for the item stored now. Default: no condition.
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
  // What `return_values` asked for, when there is something to show.
  std::optional<Item> attributes;
  std::optional<ConsumedCapacity> consumed_capacity = std::nullopt;
  // When the table has local secondary indexes.
  std::optional<ItemCollectionMetrics> item_collection_metrics = std::nullopt;
};

struct GetItemRequest {
  std::string table_name;
  // Exactly the key attributes.
  Item key;
  // Attributes to return. Default: all.
  std::string projection_expression = "";
  ExpressionAttributeNames expression_attribute_names = {};
  // Doubles the capacity that is accounted for and changes nothing else: every read is consistent.
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
  // The key attributes are read with it, to tell which item is whose. At most some 4,000 bytes.
  std::string projection_expression = "";
  ExpressionAttributeNames expression_attribute_names = {};
  bool consistent_read = false;
};

struct BatchGetItemRequest {
  // One entry a table. Any number of keys: more than the daemon takes at once (100) are sent as several
  // batches, one after the other, each of them read from the state of its moment.
  std::vector<KeysAndAttributes> request_items = {};
  ReturnConsumedCapacity return_consumed_capacity = ReturnConsumedCapacity::kNone;
};

struct BatchGetItemResult {
  // Of the last batch.
  uint64_t change_sequence = 0;
  struct Table {
    std::string table_name;
    // One per key, in their order; empty where there is no such item.
    std::vector<std::optional<Item>> items;
  };
  // One per entry of the request, in their order.
  std::vector<Table> tables;
  // One a table, over all batches.
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
  // 1 to 100 over any tables, no item twice; the items together at most 4 MiB.
  std::vector<TransactGet> gets;
  // Lifts DynamoDB's bounds: up to 10,000 items, together at most 16 MiB.
  bool large = false;
  ReturnConsumedCapacity return_consumed_capacity = ReturnConsumedCapacity::kNone;
};

// All read from one state.
struct TransactGetItemsResult {
  uint64_t change_sequence = 0;
  // One per get, in their order; empty where there is no such item.
  std::vector<std::optional<Item>> items;
  // One a table.
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
  // Independent writes over any tables, no two on the same item. More than the daemon takes at once (25
  // writes, 16 MiB) are sent as several batches, one after the other, in this order. Not atomic as a whole.
  std::vector<BatchWrite> writes;
  ReturnConsumedCapacity return_consumed_capacity = ReturnConsumedCapacity::kNone;
  ReturnItemCollectionMetrics return_item_collection_metrics = ReturnItemCollectionMetrics::kNone;
};

// Every write was applied: writes that the daemon did not take on are sent again, and anything that is not
// applied in the end is an error, see BatchWriteOutcomes().
struct BatchWriteItemResult {
  // Of the last batch.
  uint64_t change_sequence = 0;
  // One a table, over all batches.
  std::vector<ConsumedCapacity> consumed_capacity = {};
  // Each as the last batch that wrote to the item collection left it.
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

// Writes nothing; the transaction is cancelled unless the condition holds.
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
  // 1 to 100 actions over any tables, no two on the same item; all are applied or none. The request is at
  // most 4 MiB.
  std::vector<TransactAction> actions;
  // Lifts DynamoDB's bounds: up to 10,000 actions of at most 16 MiB.
  bool large = false;
  ReturnConsumedCapacity return_consumed_capacity = ReturnConsumedCapacity::kNone;
  ReturnItemCollectionMetrics return_item_collection_metrics = ReturnItemCollectionMetrics::kNone;
};

struct TransactWriteItemsResult {
  uint64_t change_sequence = 0;
  // One a table.
  std::vector<ConsumedCapacity> consumed_capacity = {};
  TableItemCollectionMetrics item_collection_metrics = {};
};

// ---- pages ---------------------------------------------------------------------------------------

// What a page contains.
enum class Select {
  // What the projection names; without one whole items of a table, and what an index holds.
  kDefault,
  // Whole items.
  kAllAttributes,
  // What the index holds; indexes only.
  kAllProjectedAttributes,
  // What the projection names, which is then required.
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
  // With Select::kCount and without `limit`: counts the whole range in this one call, of one state, however
  // many pages it would be.
  bool count_all = false;
  // Doubles the capacity that is accounted for and changes nothing else: every read is consistent.
  bool consistent_read = false;
  ReturnConsumedCapacity return_consumed_capacity = ReturnConsumedCapacity::kNone;
  // Adds to the result how the page was read.
  bool explain = false;
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
  // A parallel scan: this page is of segment 0 to `total_segments` - 1. The segments are disjoint and
  // together complete, whatever is written meanwhile. Both or none; `total_segments` is 1 to 1,000,000.
  std::optional<int32_t> segment = std::nullopt;
  std::optional<int32_t> total_segments = std::nullopt;
  Select select = Select::kDefault;
  bool count_all = false;
  bool consistent_read = false;
  ReturnConsumedCapacity return_consumed_capacity = ReturnConsumedCapacity::kNone;
  bool explain = false;
};

// How a page was read.
struct ReadPlan {
  // Empty for the table itself.
  std::string index_name;
  // The key range as people write it, for example `PK = "a" AND SK >= "b"`; empty for the whole table or
  // index.
  std::string key_range;
  // The range as bytes of the daemon's key encoding, the lower bound included and the upper one excluded;
  // empty where there is no bound.
  std::string lower_bound;
  std::string upper_bound;
  // False when the range is read from its end.
  bool forward = true;
  // Bytes of items read for this page.
  int64_t bytes_read = 0;
  // Items of the table that were fetched because the local index does not hold all that is asked for.
  int64_t base_items_read = 0;
};

// Of QueryStream and ScanStream.
struct StreamOptions {
  // All items are of the state of the first page. The stream must be used up within a minute of its beginning
  // and cannot be resumed: it ends with ABORTED (STATE_TOO_OLD) otherwise.
  bool one_state = false;
};

// Of Query and Scan.
struct ItemPage {
  uint64_t change_sequence = 0;
  std::vector<Item> items;
  // Items in this page, after the filter; and items evaluated for it, before the filter.
  int64_t count = 0;
  int64_t scanned_count = 0;
  // Set when items may remain, and only then: pass it as `exclusive_start_key`.
  std::optional<Item> last_evaluated_key;
  std::optional<ConsumedCapacity> consumed_capacity = std::nullopt;
  // With `explain`.
  std::optional<ReadPlan> plan = std::nullopt;
};

}  // namespace client
}  // namespace itemdb
