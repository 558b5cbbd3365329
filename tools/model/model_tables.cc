#include "tools/model/model_tables.h"
#include "common/status_macros.h"

#include <utility>

namespace itemdb::tools {

absl::StatusOr<std::vector<LiveTable>> LiveTablesOf(Context& context, const Client& client,
                                                    const ModelFolder& folder) {
  std::vector<LiveTable> tables;
  for (const ModelTable& model : folder.tables) {
    LiveTable table{.model = &model, .live = {}, .differences = {}};
    absl::StatusOr<TableResult> described = client.DescribeTable(model.definition.table_name, context.Call());
    if (described.ok()) {
      table.differences = DifferencesOf(model.definition, described->table);
      table.live = std::move(described->table);
      ITEMDB_ASSIGN_OR_RETURN(TimeToLiveResult time_to_live,
                              client.DescribeTimeToLive(model.definition.table_name, context.Call()));
      const auto shown = [](const std::string& attribute) {
        return attribute.empty() ? "none" : "attribute " + attribute;
      };
      if (model.time_to_live != time_to_live.attribute_name) {
        table.differences.push_back({.what = "time to live",
                                     .model = shown(model.time_to_live),
                                     .live = shown(time_to_live.attribute_name)});
      }
    } else if (described.status().code() == absl::StatusCode::kNotFound) {
      table.differences.push_back({.what = "table", .model = "defined", .live = "none"});
    } else {
      return described.status();
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace itemdb::tools
