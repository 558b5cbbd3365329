// `itemctl bulk-put`: puts of the items in files into a table.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "itemdb/bulk_puts.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

struct BulkPutStartOptions {
  std::string table_name;
  std::string bucket;
  std::string prefix;
  std::string format = "DYNAMODB_JSON";
  std::string compression = "NONE";
  // Empty: the bucket of the input.
  std::string output_bucket;
  std::string output_prefix;
  // 0: no limit.
  int64_t max_write_units = 0;
  // Wait until the operation has ended.
  bool wait = false;
};

// Prints the operation. With `wait`, an operation that does not put all items, or compare their conditions,
// is an error of the command.
absl::Status RunBulkPutStart(Context& context, const BulkPutStartOptions& options);

struct BulkPutOptions {
  // An ARN, or the name of a table: its newest operation.
  std::string operation;
};

absl::Status RunBulkPutDescribe(Context& context, const BulkPutOptions& options);
absl::Status RunBulkPutCancel(Context& context, const BulkPutOptions& options);

struct BulkPutListOptions {
  // Empty: of all tables.
  std::string table_name;
};

absl::Status RunBulkPutList(Context& context, const BulkPutListOptions& options);

void RegisterBulkPutCommands(CommandTable& table);

}  // namespace itemdb::tools
