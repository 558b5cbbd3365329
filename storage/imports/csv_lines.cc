#include <set>

#include "common/csv.h"
#include "storage/imports/line_parser.h"
#include "storage/json/json_values.h"
#include "storage/values/utf8.h"
#include "storage/values/value_view.h"
#include "storage/values/wire.h"

namespace itemdb::storage {
namespace {

std::string_view WithoutCarriageReturn(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

class CsvLineParser final : public LineParser {
 public:
  CsvLineParser(std::vector<CsvColumn> columns, char delimiter)
      : columns_(std::move(columns)), delimiter_(delimiter) {}

  LineKind Parse(std::string_view line, std::string* item, std::string* reason) override {
    line = WithoutCarriageReturn(line);
    if (line.empty()) return LineKind::kNothing;
    if (!IsValidUtf8(line)) {
      *reason = "the line is not valid UTF-8";
      return LineKind::kBadLine;
    }
    if (!SplitCsvLine(line, delimiter_, &cells_, reason)) return LineKind::kBadLine;
    if (cells_.size() != columns_.size()) {
      *reason = "the line has " + std::to_string(cells_.size()) + " cells, but there are " +
                std::to_string(columns_.size()) + " columns";
      return LineKind::kBadItem;
    }
    item->clear();
    for (size_t i = 0; i < cells_.size(); ++i) {
      value_.clear();
      if (const absl::Status encoded = EncodeCell(columns_[i].type, cells_[i]); !encoded.ok()) {
        *reason = "column " + columns_[i].name + ": " + MessageOf(encoded);
        return LineKind::kBadItem;
      }
      AppendAttribute(columns_[i].name, value_, item);
    }
    return LineKind::kItem;
  }

 private:
  absl::Status EncodeCell(v1::ScalarAttributeType type, std::string_view cell) {
    switch (type) {
      case v1::SCALAR_ATTRIBUTE_TYPE_B: {
        std::string bytes;
        ITEMDB_RETURN_IF_ERROR(AppendDecodedBase64(cell, &bytes));
        wire::AppendBytesField(static_cast<uint32_t>(ValueType::kB), bytes, &value_);
        return absl::OkStatus();
      }
      case v1::SCALAR_ATTRIBUTE_TYPE_N:
        wire::AppendBytesField(static_cast<uint32_t>(ValueType::kN), cell, &value_);
        return absl::OkStatus();
      default:
        wire::AppendBytesField(static_cast<uint32_t>(ValueType::kS), cell, &value_);
        return absl::OkStatus();
    }
  }

  const std::vector<CsvColumn> columns_;
  const char delimiter_;
  // Of the current line; members, so that their memory is used again.
  std::vector<std::string> cells_;
  std::string value_;
};

}  // namespace

std::unique_ptr<LineParser> NewCsvLineParser(std::vector<CsvColumn> columns, char delimiter) {
  return std::make_unique<CsvLineParser>(std::move(columns), delimiter);
}

absl::StatusOr<std::vector<CsvColumn>> ParseCsvHeader(std::string_view line, char delimiter,
                                                      const Table& table) {
  std::vector<std::string> names;
  std::string reason;
  if (!SplitCsvLine(WithoutCarriageReturn(line), delimiter, &names, &reason))
    return ValidationError("IMP-18", "the header cannot be parsed: " + reason);
  return CsvColumnsOf(names, table);
}

absl::StatusOr<std::vector<CsvColumn>> CsvColumnsOf(const std::vector<std::string>& names,
                                                    const Table& table) {
  std::vector<CsvColumn> columns;
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (name.empty()) return ValidationError("IMP-18", "a name in the header is empty");
    if (!IsValidUtf8(name)) return ValidationError("IMP-18", "the header is not valid UTF-8");
    if (!seen.insert(name).second)
      return ValidationError("IMP-18", "the header has the name " + name + " twice");
    CsvColumn column{.name = name};
    for (const v1::AttributeDefinition& definition : table.definition.attribute_definitions())
      if (definition.attribute_name() == name) column.type = definition.attribute_type();
    columns.push_back(std::move(column));
  }
  return columns;
}

}  // namespace itemdb::storage
