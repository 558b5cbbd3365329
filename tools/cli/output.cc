#include "tools/cli/output.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_format.h"
#include "common/csv.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"
#include "tools/base/number_text.h"

namespace itemdb::tools {
namespace {

// A string in plain form is printed as it is, every other value as JSON.
std::string Cell(const Value& value, ItemForm form) {
  if (const std::string* text = value.string_or_null(); text != nullptr && form == ItemForm::kPlain)
    return *text;
  return OneLine(ValueToJson(value, form));
}

void PrintCsvLine(const std::vector<std::string>& cells, std::ostream& out) {
  std::string line;
  AppendCsvLine(cells, &line);
  out << line;
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
  if (name == "csv") return OutputFormat::kCsv;
  return std::nullopt;
}

void PrintDocument(const JsonValue& document, OutputFormat format, std::ostream& out) {
  out << (format == OutputFormat::kJson ? Indented(document) : OneLine(document)) << '\n';
}

void PrintCsv(const std::vector<JsonValue>& documents, std::ostream& out) {
  std::vector<std::string> names;
  for (const JsonValue& document : documents) {
    for (const auto& [name, value] : document.members) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  if (names.empty()) return;
  PrintCsvLine(names, out);
  for (const JsonValue& document : documents) {
    std::vector<std::string> cells(names.size());
    for (const auto& [name, value] : document.members) {
      const size_t column = std::find(names.begin(), names.end(), name) - names.begin();
      cells[column] = value.kind == JsonValue::Kind::kString ? value.text : OneLine(value);
    }
    PrintCsvLine(cells, out);
  }
}

void PrintItem(const Item& item, OutputFormat format, ItemForm form, std::ostream& out) {
  if (format == OutputFormat::kCsv) return PrintCsv({ItemToJson(item, form)}, out);
  if (format != OutputFormat::kTable) return PrintDocument(ItemToJson(item, form), format, out);
  TextTable table({"attribute", "value"});
  for (const Attribute& attribute : item) table.AddRow({attribute.name, Cell(attribute.value, form)});
  table.Print(out);
}

absl::Status ItemWriter::Write(const Item& item) {
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
    case OutputFormat::kCsv:
      if (!csv_columns_.empty()) {
        ITEMDB_RETURN_IF_ERROR(WriteCsv(item));
        break;
      }
      block_.push_back(item);
      if (block_.size() == kTableBlock) FlushTable();
      break;
  }
  ++written_;
  return absl::OkStatus();
}

absl::Status ItemWriter::WriteCsv(const Item& item) {
  std::vector<std::string> cells(csv_columns_.size());
  for (const Attribute& attribute : item) {
    const size_t column =
        std::find(csv_columns_.begin(), csv_columns_.end(), attribute.name) - csv_columns_.begin();
    if (column == csv_columns_.size()) {
      return UsageError(absl::StrFormat(
          "csv has no column for the attribute %s, which none of the first %d items has; name all attributes "
          "with --projection, or choose jsonl",
          JsonString(attribute.name), kTableBlock));
    }
    cells[column] = Cell(attribute.value, options_.form);
  }
  PrintCsvLine(cells, out_);
  return absl::OkStatus();
}

void ItemWriter::Finish(const JsonValue& summary) {
  if (options_.format == OutputFormat::kCsv) FlushTable();
  if (options_.format == OutputFormat::kTable) {
    FlushTable();
    if (options_.with_count) out_ << CountText(static_cast<int64_t>(written_), kItemNoun) << '\n';
  }
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
  if (options_.format == OutputFormat::kCsv) {
    csv_columns_ = names;
    PrintCsvLine(names, out_);
    // These items have no other attributes.
    for (const Item& item : block_) WriteCsv(item).IgnoreError();
    block_.clear();
    return;
  }
  TextTable table(ColumnsOf(block_, names, options_.form));
  for (const Item& item : block_) {
    std::vector<std::string> cells;
    for (const std::string& name : names) {
      const Value* value = item.find_or_null(name);
      cells.push_back(value == nullptr ? "" : Cell(*value, options_.form));
    }
    table.AddRow(cells);
  }
  if (printed_ > 0) out_ << '\n';
  TableLayout layout = options_.layout;
  layout.first_row = printed_ + 1;
  table.Print(out_, layout);
  printed_ += block_.size();
  block_.clear();
}

}  // namespace itemdb::tools
