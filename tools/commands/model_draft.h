// `itemctl model draft`: what a daemon has seen of its tables, as a model folder.
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

// Writes the definitions of the tables and a pattern for each that the daemon has seen, most calls first. The
// values of its parameters are left to be given.
absl::Status RunModelDraft(Context& context, const ModelDraftOptions& options);

// `seen` as a request of its table, called `name`; nothing of what no request can say: a chunk of a
// BulkWrite, an expression that was cut.
std::optional<ModelPattern> DraftPattern(const AccessPattern& seen, const TableDefinition& table,
                                         const std::string& name);

void RegisterModelDraft(CommandTable& table, CLI::App* group);

}  // namespace itemdb::tools
