// `itemctl index`: global secondary indexes of live tables.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/cli/confirm.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

class CommandTable;

struct IndexAddOptions {
  std::string table_name;
  std::string index_name;
  // "name:TYPE", in the order of the key schema.
  std::vector<std::string> hash;
  std::vector<std::string> range;
  // "ALL", "KEYS_ONLY" or "INCLUDE".
  std::string projection = "ALL";
  std::vector<std::string> non_key_attributes;
  // "READ,WRITE" or empty.
  std::string throughput;
  // Wait until the index is ACTIVE.
  bool wait = false;
};

// Creates an index and prints it. UsageError: the key is malformed.
absl::Status RunIndexAdd(Context& context, const IndexAddOptions& options);

struct IndexOptions {
  std::string table_name;
  // Empty for all.
  std::string index_name;
};

// Prints the global indexes of a table, and the progress of those that are being created.
absl::Status RunIndexStatus(Context& context, const IndexOptions& options);

struct IndexDropOptions {
  std::string table_name;
  std::string index_name;
  ConfirmOptions confirm;
};

// Deletes an index and prints its last description.
absl::Status RunIndexDrop(Context& context, const IndexDropOptions& options);

struct IndexCheckOptions {
  std::string table_name;
  // Empty for the table with all its indexes.
  std::string index_name;
  bool repair = false;
};

// Prints statistics and findings of the check. ExitCode::kFindings if a finding is not repaired. The default
// timeout is one hour.
absl::Status RunIndexCheck(Context& context, const IndexCheckOptions& options);

void RegisterIndexCommands(CommandTable& table);

}  // namespace itemdb::tools
