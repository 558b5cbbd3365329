#include <utility>

#include "absl/strings/str_format.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"
#include "tools/commands/model_commands.h"
#include "tools/model/model_folder.h"
#include "tools/model/workbench_model.h"

namespace itemdb::tools {

absl::Status RunModelImport(Context& context, const ModelImportOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(std::string text, context.ReadFile(options.file));
  const std::string document = options.file == "-" ? "standard input" : options.file;
  absl::StatusOr<JsonValue> json = ParseJson(text);
  if (!json.ok()) return UsageError(document + ": " + std::string(json.status().message()));
  ITEMDB_ASSIGN_OR_RETURN(ModelFolder folder, ModelFromWorkbench(*json, document));
  folder.directory = options.directory;
  ITEMDB_RETURN_IF_ERROR(WriteModelFolder(folder));
  size_t items = 0;
  size_t without_value = 0;
  for (const ModelTable& table : folder.tables) items += table.items.size();
  for (const ModelPattern& pattern : folder.patterns) {
    for (const auto& [name, value] : pattern.parameters) without_value += value.has_value() ? 0 : 1;
  }
  context.PrintSummary(JsonValue::Object()
                           .Add("Folder", options.directory)
                           .Add("Tables", folder.tables.size())
                           .Add("Items", items)
                           .Add("Patterns", folder.patterns.size())
                           .Add("ParametersWithoutValue", without_value));
  return absl::OkStatus();
}

}  // namespace itemdb::tools
