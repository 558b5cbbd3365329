#include "tools/files/item_text.h"

#include <utility>

#include "common/csv.h"
#include "itemdb/json.h"

namespace itemdb::tools {
namespace {

// Text, numbers and base64 as they are, every other value as plain JSON.
std::string CellOf(const Value& value) {
  if (const std::string* text = value.string_or_null(); text != nullptr) return *text;
  std::string json = itemdb::ToJson(value);
  if (value.type() == ValueType::kBinary) return json.substr(1, json.size() - 2);
  return json;
}

ColumnType ColumnTypeOf(const Value& value) {
  switch (value.type()) {
    case ValueType::kNumber:
      return ColumnType::kNumber;
    case ValueType::kBinary:
      return ColumnType::kBinary;
    case ValueType::kBool:
      return ColumnType::kBool;
    default:
      return ColumnType::kText;
  }
}

}  // namespace

void ItemText::Add(Item item, std::string* out) {
  ++item_count_;
  const size_t before = out->size();
  switch (options_.format) {
    case ItemFormat::kDynamoDbJson:
      out->append("{\"Item\":").append(itemdb::ToJson(item, JsonForm::kDynamoDb)).append("}\n");
      break;
    case ItemFormat::kJson:
      out->append(itemdb::ToJson(item)).push_back('\n');
      break;
    case ItemFormat::kCsv:
      if (options_.columns.empty()) {
        for (const Attribute& attribute : item) {
          text_bytes_ += static_cast<int64_t>(attribute.name.size() + CellOf(attribute.value).size());
          if (kept_names_.insert(attribute.name).second) kept_name_bytes_ += attribute.name.size();
        }
        return kept_.push_back(std::move(item));
      }
      if (item_count_ == 1) AppendCsvLine(options_.columns, out);
      AppendRow(item, options_.columns, out);
      break;
  }
  text_bytes_ += static_cast<int64_t>(out->size() - before);
}

void ItemText::Finish(std::string* out) {
  if (kept_.empty()) return;
  const std::vector<std::string> columns = ColumnsOfKept();
  AppendCsvLine(columns, out);
  for (const Item& item : kept_) AppendRow(item, columns, out);
  kept_.clear();
}

std::vector<std::string> ItemText::ColumnsOfKept() const {
  std::set<std::string, std::less<>> names = kept_names_;
  std::vector<std::string> columns = options_.leading_columns;
  for (const std::string& name : columns) names.erase(name);
  columns.insert(columns.end(), names.begin(), names.end());
  return columns;
}

void ItemText::AppendRow(const Item& item, const std::vector<std::string>& columns, std::string* out) {
  cells_.assign(columns.size(), "");
  for (size_t i = 0; i < columns.size(); ++i) {
    const Value* value = item.find_or_null(columns[i]);
    if (value == nullptr) continue;
    NoteType(columns[i], *value);
    cells_[i] = CellOf(*value);
  }
  AppendCsvLine(cells_, out);
}

void ItemText::NoteType(const std::string& column, const Value& value) {
  const auto [noted, is_new] = types_.emplace(column, ColumnTypeOf(value));
  if (!is_new && noted->second != ColumnTypeOf(value)) noted->second = ColumnType::kText;
}

}  // namespace itemdb::tools
