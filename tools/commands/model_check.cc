#include <optional>
#include <utility>

#include "absl/strings/str_format.h"
#include "common/status_macros.h"
#include "tools/base/text_table.h"
#include "tools/cli/output.h"
#include "tools/commands/model_commands.h"
#include "tools/model/model_tables.h"

namespace itemdb::tools {
namespace {

JsonValue ToJson(const LiveTable& table) {
  JsonValue differences = JsonValue::Array();
  for (const TableDifference& difference : table.differences) {
    differences.elements.push_back(JsonValue::Object()
                                       .Add("What", difference.what)
                                       .Add("Model", difference.model)
                                       .Add("Live", difference.live));
  }
  return JsonValue::Object()
      .Add("TableName", table.model->definition.table_name)
      .Add("Differences", std::move(differences));
}

void PrintRows(Context& context, const std::vector<LiveTable>& tables) {
  TextTable text({"table", "what differs", "model", "live"});
  for (const LiveTable& table : tables) {
    const std::string& name = table.model->definition.table_name;
    if (table.differences.empty()) text.AddRow({name, "nothing"});
    for (const TableDifference& difference : table.differences) {
      text.AddRow({name, difference.what, difference.model, difference.live});
    }
  }
  context.Print(text);
}

void PrintJson(Context& context, const std::vector<LiveTable>& tables) {
  JsonValue all = JsonValue::Array();
  for (const LiveTable& table : tables) all.elements.push_back(ToJson(table));
  context.PrintList("Tables", std::move(all));
}

}  // namespace

absl::Status RunModelCheck(Context& context, const ModelCheckOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(ModelFolder folder, ReadModelFolder(context, options.directory));
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(std::vector<LiveTable> tables, LiveTablesOf(context, client, folder));
  if (context.format() == OutputFormat::kTable) {
    PrintRows(context, tables);
  } else {
    PrintJson(context, tables);
  }
  size_t differences = 0;
  size_t differing = 0;
  for (const LiveTable& table : tables) {
    differences += table.differences.size();
    differing += table.differences.empty() ? 0 : 1;
  }
  if (differences == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrFormat("the model and the live tables disagree: %d differences in %d of %d tables",
                      differences, differing, tables.size()));
}

}  // namespace itemdb::tools
