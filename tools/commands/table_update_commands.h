// `itemctl table update|tag|untag|limits`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

struct TableUpdateOptions {
  std::string table_name;
  // An option that is empty, absent or false changes nothing.
  std::string billing_mode;
  // "READ,WRITE".
  std::string throughput;
  // "INDEX=READ,WRITE" each.
  std::vector<std::string> index_throughputs;
  // At most one of `protect` and `unprotect`.
  bool protect = false;
  bool unprotect = false;
  // At most one of `enable_stream` and `disable_stream`.
  bool enable_stream = false;
  bool disable_stream = false;
  std::string stream_view_type;
  std::string table_class;
  // "DISABLED", "AES256" or "KMS".
  std::string sse_type;
  std::string kms_master_key_id;
  // "READ,WRITE"; one of the two numbers may be missing.
  std::string on_demand_throughput;
  std::string warm_throughput;
};

struct TableTagOptions {
  std::string table_name;
  // For `tag` "KEY=VALUE", for `untag` keys.
  std::vector<std::string> tags;
};

// Reads "READ,WRITE". The message of a UsageError names `option`.
absl::StatusOr<ProvisionedThroughput> ParseThroughput(const std::string& text, const std::string& option);

// Prints the table's description after the update.
absl::Status RunTableUpdate(Context& context, const TableUpdateOptions& options);
// Print the table's tags after the change.
absl::Status RunTableTag(Context& context, const TableTagOptions& options);
absl::Status RunTableUntag(Context& context, const TableTagOptions& options);
absl::Status RunTableLimits(Context& context);

// Adds the commands to the group `table`.
void RegisterTableUpdateCommands(CommandTable& table, CLI::App* group);

}  // namespace itemdb::tools
