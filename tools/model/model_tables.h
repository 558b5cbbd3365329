// The tables of a model beside those of the daemon.
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
  // Nothing when the daemon has no such table.
  std::optional<TableDescription> live;
  // A table that is missing differs as a whole.
  std::vector<TableDifference> differences;
};

// One for each table of `folder`, in its order.
absl::StatusOr<std::vector<LiveTable>> LiveTablesOf(Context& context, const Client& client,
                                                    const ModelFolder& folder);

}  // namespace itemdb::tools
