#include "tools/cli/output.h"

#include <algorithm>
#include <set>

#include "tools/base/text_table.h"

namespace itemdb::tools {
namespace {

// A string in plain form is printed as it is, every other value as JSON.
std::string Cell(const Value& value, ItemForm form) {
  if (const std::string* text = value.string_or_null(); text != nullptr && form == ItemForm::kPlain)
    return *text;
  return OneLine(ValueToJson(value, form));
}

// The columns of `leading` that occur in an item, then the other attribute names in byte order.
std::vector<std::string> ColumnNames(const std::vector<Item>& items,
                                     const std::vector<std::string>& leading) {
  std::set<std::string> names;
  for (const Item& item : items) {
    for (const Attribute& attribute : item) names.insert(attribute.name);
  }
  std::vector<std::string> columns;
  for (const std::string& name : leading) {
    if (names.erase(name) > 0) columns.push_back(name);
  }
  columns.insert(columns.end(), names.begin(), names.end());
  return columns;
}

// A column is a number column if the attribute is a number in every item that has it. A string of digits is
// text.
std::vector<TableColumn> ColumnsOf(const std::vector<Item>& items, const std::vector<std::string>& names,
                                   ItemForm form) {
  std::vector<TableColumn> columns;
  for (const std::string& name : names) {
    const bool numbers = std::all_of(items.begin(), items.end(), [&name](const Item& item) {
      const Value* value = item.find_or_null(name);
      return value == nullptr || value->type() == ValueType::kNumber;
    });
    columns.push_back(numbers && form == ItemForm::kPlain ? NumberColumn(name) : name);
  }
  return columns;
}

}  // namespace

std::optional<OutputFormat> OutputFormatFromName(std::string_view name) {
  if (name == "table") return OutputFormat::kTable;
  if (name == "json") return OutputFormat::kJson;
  if (name == "jsonl") return OutputFormat::kJsonLines;
  return std::nullopt;
}

void PrintDocument(const JsonValue& document, OutputFormat format, std::ostream& out) {
  out << (format == OutputFormat::kJson ? Indented(document) : OneLine(document)) << '\n';
}

void PrintItem(const Item& item, OutputFormat format, ItemForm form, std::ostream& out) {
  if (format != OutputFormat::kTable) {
    PrintDocument(ItemToJson(item, form), format, out);
    return;
  }
  TextTable table({"attribute", "value"});
  for (const Attribute& attribute : item) table.AddRow({attribute.name, Cell(attribute.value, form)});
  table.Print(out);
}

void ItemWriter::Write(const Item& item) {
  switch (options_.format) {
    case OutputFormat::kTable:
      block_.push_back(item);
      if (block_.size() == kTableBlock) FlushTable();
      break;
    case OutputFormat::kJson:
      out_ << (written_ == 0 ? "{\n  \"Items\": [\n    " : ",\n    ")
           << Indented(ItemToJson(item, options_.form), 2);
      break;
    case OutputFormat::kJsonLines:
      out_ << OneLine(ItemToJson(item, options_.form)) << '\n';
      break;
  }
  ++written_;
}

void ItemWriter::Finish(const JsonValue& summary) {
  if (options_.format == OutputFormat::kTable) FlushTable();
  if (options_.format != OutputFormat::kJson) return;
  out_ << (written_ == 0 ? "{\n  \"Items\": []" : "\n  ]");
  for (const auto& [name, value] : summary.members) {
    out_ << ",\n  " << JsonString(name) << ": " << Indented(value, 1);
  }
  out_ << "\n}\n";
}

void ItemWriter::FlushTable() {
  if (block_.empty()) return;
  const std::vector<std::string> names = ColumnNames(block_, options_.leading_columns);
  TextTable table(ColumnsOf(block_, names, options_.form));
  for (const Item& item : block_) {
    std::vector<std::string> cells;
    for (const std::string& name : names) {
      const Value* value = item.find_or_null(name);
      cells.push_back(value == nullptr ? "" : Cell(*value, options_.form));
    }
    table.AddRow(cells);
  }
  if (written_ > block_.size()) out_ << '\n';
  table.Print(out_, {.expanded = options_.expanded, .max_width = options_.max_width});
  block_.clear();
}

}  // namespace itemdb::tools
