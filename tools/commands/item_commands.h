// `itemctl item get|put|update|delete`.
//
// Keys, items and values are JSON in either form (tools/json/item_json.h). A write prints what
// --return-values asks for, which by default is nothing.
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

// What put, update and delete have in common.
struct ItemWriteOptions : CapacityOptions {
  std::string table_name;
  std::string condition_expression;
  // JSON objects, see ParseNames and ParseValues.
  std::string names;
  std::string values;
  ReturnValues return_values = ReturnValues::kNone;
  ReturnValuesOnConditionCheckFailure on_condition_failure = ReturnValuesOnConditionCheckFailure::kNone;
  // Print DynamoDB JSON; for put also: read the item as such.
  bool typed = false;
  // Read the item and the values as plain JSON, even where they look like DynamoDB JSON.
  bool plain = false;
};

struct ItemPutOptions : ItemWriteOptions {
  // The item itself, or "-" for standard input. Exactly one of this and `file` is given.
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

// ExitCode::kNotFound when there is no such item.
absl::Status RunItemGet(Context& context, const ItemGetOptions& options);
// A false condition prints the stored item when --return-values-on-condition-check-failure asks for it, and
// is an error all the same.
absl::Status RunItemPut(Context& context, const ItemPutOptions& options);
absl::Status RunItemUpdate(Context& context, const ItemUpdateOptions& options);
// On a terminal it asks before it deletes; a script deletes single items without being asked. A dry run
// prints the item and fails as the deletion would when the condition is false.
absl::Status RunItemDelete(Context& context, const ItemDeleteOptions& options);

void RegisterItemCommands(CommandTable& table);

}  // namespace itemdb::tools
