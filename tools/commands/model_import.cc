#include <utility>

#include "absl/strings/str_format.h"
#include "tools/base/exit_codes.h"
#include "tools/commands/model_commands.h"
#include "tools/model/model_folder.h"
#include "tools/model/workbench_model.h"

namespace itemdb::tools {

absl::Status RunModelImport(Context& context, const ModelImportOptions& options) {
  absl::StatusOr<std::string> text = context.ReadFile(options.file);
  if (!text.ok()) return text.status();
  const std::string document = options.file == "-" ? "standard input" : options.file;
  absl::StatusOr<JsonValue> json = ParseJson(*text);
  if (!json.ok()) return UsageError(document + ": " + std::string(json.status().message()));
  absl::StatusOr<ModelFolder> folder = ModelFromWorkbench(*json, document);
  if (!folder.ok()) return folder.status();
  folder->directory = options.directory;
  if (absl::Status written = WriteModelFolder(*folder); !written.ok()) return written;
  size_t items = 0;
  size_t without_value = 0;
  for (const ModelTable& table : folder->tables) items += table.items.size();
  for (const ModelPattern& pattern : folder->patterns) {
    for (const auto& [name, value] : pattern.parameters) without_value += value.has_value() ? 0 : 1;
  }
  context.PrintSummary(JsonValue::Object()
                           .Add("Folder", JsonValue::String(options.directory))
                           .Add("Tables", JsonValue::Number(folder->tables.size()))
                           .Add("Items", JsonValue::Number(items))
                           .Add("Patterns", JsonValue::Number(folder->patterns.size()))
                           .Add("ParametersWithoutValue", JsonValue::Number(without_value)));
  return absl::OkStatus();
}

}  // namespace itemdb::tools
