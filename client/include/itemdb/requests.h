// Requests and results of the data operations. They follow DynamoDB's names and rules; the daemon judges
// them, this library does not. Plain data, for designated initializers; the operations are in client.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

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
};

// Of PutItem, UpdateItem and DeleteItem.
struct WriteResult {
  uint64_t change_sequence = 0;
  // What `return_values` asked for, when there is something to show.
  std::optional<Item> attributes;
};

struct GetItemRequest {
  std::string table_name;
  // Exactly the key attributes.
  Item key;
  // Attributes to return. Default: all.
  std::string projection_expression = "";
  ExpressionAttributeNames expression_attribute_names = {};
};

struct GetItemResult {
  uint64_t change_sequence = 0;
  // Empty when there is no such item.
  std::optional<Item> item;
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
};

// Every write was applied: writes that the daemon did not take on are sent again, and anything that is not
// applied in the end is an error, see BatchWriteOutcomes().
struct BatchWriteItemResult {
  // Of the last batch.
  uint64_t change_sequence = 0;
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
  // 1 to 100 actions over any tables, no two on the same item; all are applied or none.
  std::vector<TransactAction> actions;
  // Lifts the service's bounds: up to 10,000 actions in a request of 16 MiB.
  bool large = false;
};

struct TransactWriteItemsResult {
  uint64_t change_sequence = 0;
};

// ---- pages ---------------------------------------------------------------------------------------

// Items of one item collection, of a table or an index, in sort-key order.
struct QueryRequest {
  std::string table_name;
  // Default: the table itself.
  std::string index_name = "";
  // Equality on every partition-key attribute, and at most one range over the sort-key attributes.
  std::string key_condition_expression;
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
};

// Of Query and Scan.
struct ItemPage {
  uint64_t change_sequence = 0;
  std::vector<Item> items;
  // Items in this page, after the filter; and items evaluated for it, before the filter.
  int32_t count = 0;
  int32_t scanned_count = 0;
  // Set when items may remain, and only then: pass it as `exclusive_start_key`.
  std::optional<Item> last_evaluated_key;
};

}  // namespace client
}  // namespace itemdb
