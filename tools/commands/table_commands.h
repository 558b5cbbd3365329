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

// Prints a table as all these commands do: one line for the table and one for each index, or in JSON
// DescribeTable's "Table".
void PrintTable(const TableDescription& table, Context& context);

// Each of these prints the table's description; delete prints the last one.
absl::Status RunTableCreate(Context& context, const TableCreateOptions& options);
absl::Status RunTableDescribe(Context& context, const TableNameOptions& options);
// Asks before it deletes. UsageError: there is no terminal and no --yes.
absl::Status RunTableDelete(Context& context, const TableDeleteOptions& options);

// Prints the names of all tables in byte order.
absl::Status RunTableList(Context& context);

void RegisterTableCommands(CommandTable& table);

}  // namespace itemdb::tools
