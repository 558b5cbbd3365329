// `itemctl table create|list|describe|delete`.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "itemdb/table.h"
#include "tools/cli/confirm.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

struct TableCreateOptions {
  // A CreateTable document; "-" for standard input.
  std::string file;
};

struct TableNameOptions {
  std::string table_name;
};

struct TableDeleteOptions : TableNameOptions {
  ConfirmOptions confirm;
};

// The form of all these commands: one line for the table and one for each index, or DescribeTable's "Table".
void PrintTable(const TableDescription& table, Context& context);

// Each prints the table's description, as it is now or, for delete, as it was.
absl::Status RunTableCreate(Context& context, const TableCreateOptions& options);
absl::Status RunTableDescribe(Context& context, const TableNameOptions& options);
// Asks before it deletes. UsageError: without a terminal to ask on it needs --yes.
absl::Status RunTableDelete(Context& context, const TableDeleteOptions& options);

// Prints the names of all tables in byte order.
absl::Status RunTableList(Context& context);

void RegisterTableCommands(CommandTable& table);

}  // namespace itemdb::tools
