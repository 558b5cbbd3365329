// PartiQL statements: one statement, a batch of independent ones, or a transaction of several
// (docs/partiql.md).
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "itemdb/capacity.h"
#include "itemdb/requests.h"
#include "itemdb/value.h"

namespace itemdb {

// A page of a SELECT, or an INSERT, UPDATE or DELETE of one item (OP-23).
struct ExecuteStatementRequest {
  // 1 to 8,192 characters.
  std::string statement;
  // One value for each `?` of the statement, in order.
  std::vector<Value> parameters = {};
  // Of SELECT: changes only the reported capacity, because every read is consistent.
  bool consistent_read = false;
  // The `next_token` of the page before, with the same statement and parameters. Empty: the first page.
  std::string next_token = "";
  ReturnConsumedCapacity return_consumed_capacity = ReturnConsumedCapacity::kNone;
  // Of SELECT: items evaluated for the page, at least 1. A page also ends at 1 MiB of items read.
  std::optional<int32_t> limit = std::nullopt;
  ReturnValuesOnConditionCheckFailure return_values_on_condition_check_failure =
      ReturnValuesOnConditionCheckFailure::kNone;
};

struct ExecuteStatementResult {
  uint64_t change_sequence = 0;
  // Of SELECT: the items of the page. Of a write: the item that RETURNING asked for, or none.
  std::vector<Item> items;
  // Set if and only if items may remain.
  std::optional<std::string> next_token;
  std::optional<ConsumedCapacity> consumed_capacity = std::nullopt;
};

// One statement of a batch. A SELECT must name one item by its full key, in a table.
struct BatchStatement {
  std::string statement;
  std::vector<Value> parameters = {};
  // Of SELECT: changes only the reported capacity, because every read is consistent.
  bool consistent_read = false;
  ReturnValuesOnConditionCheckFailure return_values_on_condition_check_failure =
      ReturnValuesOnConditionCheckFailure::kNone;
};

struct BatchExecuteStatementRequest {
  // 1 to 25, all reads or all writes, no two on one item (PQL-14). Each is executed by itself, in no certain
  // order.
  std::vector<BatchStatement> statements;
  ReturnConsumedCapacity return_consumed_capacity = ReturnConsumedCapacity::kNone;
};

// What became of one statement of a batch.
struct BatchStatementResponse {
  // OK, or why this statement failed, as ExecuteStatement would return it (errors.h); the other statements
  // are not affected. The client does not repeat single statements.
  absl::Status status;
  // Empty if the statement could not be parsed.
  std::string table_name;
  // The item that was read, or that RETURNING asked for; nothing if there is none.
  std::optional<Item> item;
};

struct BatchExecuteStatementResult {
  uint64_t change_sequence = 0;
  // One for each statement, in their order.
  std::vector<BatchStatementResponse> responses = {};
  // One for each table.
  std::vector<ConsumedCapacity> consumed_capacity = {};
};

// One statement of a transaction. A SELECT must name one item by its key. EXISTS(SELECT ...) is a condition.
struct TransactStatement {
  std::string statement;
  std::vector<Value> parameters = {};
};

struct ExecuteTransactionRequest {
  // 1 to 100, all reads or all writes, no two on the same item; at most 4 MiB together.
  std::vector<TransactStatement> statements;
  ReturnConsumedCapacity return_consumed_capacity = ReturnConsumedCapacity::kNone;
};

struct ExecuteTransactionResult {
  uint64_t change_sequence = 0;
  // Of reads: one for each statement, in their order; empty where there is no such item. Of writes: none.
  std::vector<std::optional<Item>> items;
  // One for each table.
  std::vector<ConsumedCapacity> consumed_capacity = {};
};

// The statement begins with SELECT, in any case of letters. Such a statement writes nothing, so a client may
// send it again after an error.
bool IsSelectStatement(const std::string& statement);

}  // namespace itemdb
