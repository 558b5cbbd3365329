// Compares the tables of a model with those of the daemon.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "itemdb/client.h"
#include "tools/cli/context.h"
#include "tools/model/model_folder.h"
#include "tools/model/table_differences.h"

namespace itemdb::tools {

struct LiveTable {
  // Borrowed from the folder.
  const ModelTable* model;
  // Empty if the daemon has no such table.
  std::optional<TableDescription> live;
  // A missing table is one difference, called "table".
  std::vector<TableDifference> differences;
};

// Returns one LiveTable for each table of `folder`, in the same order. Errors are those of the daemon.
absl::StatusOr<std::vector<LiveTable>> LiveTablesOf(Context& context, const Client& client,
                                                    const ModelFolder& folder);

}  // namespace itemdb::tools
