#include "tests/examples/model_files.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "tools/item_json.h"
#include "tools/output.h"
#include "tools/table_json.h"

namespace itemdb::examples {
namespace {

std::filesystem::path Folder(const std::string& model) {
  return std::filesystem::path(EXAMPLES_DIRECTORY) / model;
}

absl::StatusOr<std::string> ReadText(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return absl::NotFoundError("cannot read " + path.string());
  return text.str();
}

absl::StatusOr<nlohmann::json> ToPlain(const nlohmann::json& typed) {
  absl::StatusOr<Item> item = tools::ParseItem(typed.dump(), tools::ReadForm::kTyped, "an item");
  if (!item.ok()) return item.status();
  return nlohmann::json::parse(tools::OneLine(tools::ItemToJson(*item, tools::ItemForm::kPlain)));
}

}  // namespace

absl::StatusOr<TableDefinition> ReadTable(const std::string& model, const std::string& table) {
  absl::StatusOr<std::string> text = ReadText(Folder(model) / (table + ".table.json"));
  if (!text.ok()) return text.status();
  return tools::ParseTableDefinition(*text);
}

absl::StatusOr<std::vector<Item>> ReadItems(const std::string& model, const std::string& table) {
  absl::StatusOr<std::string> text = ReadText(Folder(model) / (table + ".items.jsonl"));
  if (!text.ok()) return text.status();
  std::vector<Item> items;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    absl::StatusOr<Item> item = tools::ParseItem(line, tools::ReadForm::kTyped, "an item");
    if (!item.ok()) return item.status();
    items.push_back(*std::move(item));
  }
  return items;
}

absl::Status LoadModel(const Client& client, const std::string& model) {
  for (const auto& entry : std::filesystem::directory_iterator(Folder(model))) {
    const std::string file = entry.path().filename().string();
    if (!file.ends_with(".table.json")) continue;
    const std::string table = file.substr(0, file.find('.'));
    absl::StatusOr<TableDefinition> definition = ReadTable(model, table);
    if (!definition.ok()) return definition.status();
    absl::StatusOr<TableResult> created = client.CreateTable(*definition);
    if (!created.ok()) return created.status();
    absl::StatusOr<std::vector<Item>> items = ReadItems(model, table);
    if (!items.ok()) return items.status();
    BatchWriteItemRequest request;
    for (Item& item : *items) request.writes.push_back(BatchPut{table, std::move(item)});
    absl::StatusOr<BatchWriteItemResult> written = client.BatchWriteItem(request);
    if (!written.ok()) return written.status();
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Pattern>> ReadPatterns(const std::string& model) {
  absl::StatusOr<std::string> text = ReadText(Folder(model) / "patterns.json");
  if (!text.ok()) return text.status();
  std::vector<Pattern> patterns;
  for (const nlohmann::json& entry : nlohmann::json::parse(*text)) {
    Pattern pattern{.number = entry.at("Pattern"),
                    .requests = static_cast<int>(entry.at("Requests").size()),
                    .items = {}};
    for (const nlohmann::json& item : entry.at("Items")) {
      absl::StatusOr<nlohmann::json> plain = ToPlain(item);
      if (!plain.ok()) return plain.status();
      pattern.items.push_back(*std::move(plain));
    }
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

}  // namespace itemdb::examples
