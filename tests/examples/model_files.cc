#include "tests/examples/model_files.h"

#include <sstream>
#include <utility>

#include "tests/support/paths.h"
#include "tools/json/item_json.h"
#include "tools/json/json_value.h"

namespace itemdb::examples {

absl::StatusOr<tools::ModelFolder> ReadModel(const std::string& model) {
  std::istringstream in;
  std::ostringstream out, err;
  tools::Session session;
  tools::Context context(tools::GlobalOptions{}, {.in = in, .out = out, .err = err}, &session);
  return tools::ReadModelFolder(context, testing::SourcePath("examples/" + model));
}

absl::Status LoadModel(const Client& client, const std::string& model) {
  absl::StatusOr<tools::ModelFolder> folder = ReadModel(model);
  if (!folder.ok()) return folder.status();
  for (tools::ModelTable& table : folder->tables) {
    absl::StatusOr<TableResult> created = client.CreateTable(table.definition);
    if (!created.ok()) return created.status();
    BatchWriteItemRequest request;
    for (tools::ModelItem& item : table.items)
      request.writes.push_back(BatchPut{table.definition.table_name, std::move(item.item)});
    absl::StatusOr<BatchWriteItemResult> written = client.BatchWriteItem(request);
    if (!written.ok()) return written.status();
  }
  return absl::OkStatus();
}

nlohmann::json ToPlainJson(const Item& item) {
  return nlohmann::json::parse(tools::OneLine(tools::ItemToJson(item, tools::ItemForm::kPlain)));
}

}  // namespace itemdb::examples
