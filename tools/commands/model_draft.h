// `itemctl model draft`: writes a model folder from the daemon's tables and the access patterns it has seen.
#pragma once

#include <optional>
#include <string>

#include "itemdb/client.h"
#include "tools/cli/context.h"
#include "tools/model/model_folder.h"

namespace CLI {
class App;
}

namespace itemdb::tools {

class CommandTable;

struct ModelDraftOptions {
  std::string directory;
  // Empty: every table.
  std::string table_name;
};

// Writes the definitions of the tables and one pattern for each access pattern that the daemon has seen, most
// calls first. The parameters have no values.
absl::Status RunModelDraft(Context& context, const ModelDraftOptions& options);

// Converts `seen` to a pattern called `name` with one request. Empty if `seen` cannot be a request: a chunk
// of a BulkWrite, or an expression that was truncated.
std::optional<ModelPattern> DraftPattern(const AccessPattern& seen, const TableDefinition& table,
                                         const std::string& name);

void RegisterModelDraft(CommandTable& table, CLI::App* group);

}  // namespace itemdb::tools
