// `itemctl item get|put|update|delete`.
//
// Keys, items and values are plain or DynamoDB JSON (tools/json/item_json.h). A write prints the attributes
// that --return-values asks for, by default none.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "tools/cli/confirm.h"
#include "tools/cli/consumed_capacity.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

struct ItemGetOptions : CapacityOptions {
  std::string table_name;
  std::string key;
  std::string projection_expression;
  std::string names;
  // Print DynamoDB JSON.
  bool typed = false;
};

// The options that put, update and delete have in common.
struct ItemWriteOptions : CapacityOptions {
  std::string table_name;
  std::string condition_expression;
  // JSON objects, see ParseNames and ParseValues.
  std::string names;
  std::string values;
  ReturnValues return_values = ReturnValues::kNone;
  ReturnValuesOnConditionCheckFailure on_condition_failure = ReturnValuesOnConditionCheckFailure::kNone;
  // Print DynamoDB JSON; put also reads the item as DynamoDB JSON.
  bool typed = false;
  // Read the item and the values as plain JSON, even where they look like DynamoDB JSON.
  bool plain = false;
};

struct ItemPutOptions : ItemWriteOptions {
  // The item as JSON, or "-" for standard input. Exactly one of `item` and `file` is given.
  std::string item;
  std::string file;
};

struct ItemUpdateOptions : ItemWriteOptions {
  std::string key;
  std::string update_expression;
};

struct ItemDeleteOptions : ItemWriteOptions {
  std::string key;
  ConfirmOptions confirm;
};

// ExitCode::kNotFound if the item does not exist.
absl::Status RunItemGet(Context& context, const ItemGetOptions& options);
// A false condition is an error. It also prints the stored item if --return-values-on-condition-check-failure
// asks for it.
absl::Status RunItemPut(Context& context, const ItemPutOptions& options);
absl::Status RunItemUpdate(Context& context, const ItemUpdateOptions& options);
// On a terminal it asks before it deletes; without a terminal it deletes without asking. A dry run prints the
// item; with a false condition it fails as the deletion would.
absl::Status RunItemDelete(Context& context, const ItemDeleteOptions& options);

void RegisterItemCommands(CommandTable& table);

}  // namespace itemdb::tools
