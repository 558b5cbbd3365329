#include "tools/files/item_lines.h"

#include <algorithm>
#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/csv.h"
#include "common/status_macros.h"
#include "itemdb/json.h"

namespace itemdb::tools {
namespace {

constexpr size_t kReadBytes = 256 << 10;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string_view WithoutLeadingSpace(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

// {"Item":{...}} and nothing else.
absl::StatusOr<Item> ParseDynamoDbLine(std::string_view line) {
  const auto take = [&line](std::string_view expected) {
    line = WithoutLeadingSpace(line);
    if (!line.starts_with(expected)) return false;
    line.remove_prefix(expected.size());
    return true;
  };
  if (!take("{") || !take("\"Item\"") || !take(":"))
    return absl::InvalidArgumentError("the line is not {\"Item\":{...}}");
  line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
  if (!line.ends_with('}')) return absl::InvalidArgumentError("the line is not {\"Item\":{...}}");
  line.remove_suffix(1);
  return itemdb::ItemFromJson(line, JsonForm::kDynamoDb);
}

// Nothing for an empty cell: the item does not have the attribute.
absl::StatusOr<std::optional<Value>> ParseCell(const std::string& cell, ColumnType type) {
  if (cell.empty()) return std::nullopt;
  switch (type) {
    case ColumnType::kNumber: {
      ITEMDB_ASSIGN_OR_RETURN(Number number, Number::Parse(cell));
      return Value(std::move(number));
    }
    case ColumnType::kBinary: {
      std::string bytes;
      if (!absl::Base64Unescape(cell, &bytes))
        return absl::InvalidArgumentError("a binary value must be base64");
      return Value::Binary(std::move(bytes));
    }
    case ColumnType::kBool:
      if (cell != "true" && cell != "false")
        return absl::InvalidArgumentError("a boolean must be true or false");
      return Value(cell == "true");
    case ColumnType::kText:
      break;
  }
  return Value(cell);
}

}  // namespace

absl::StatusOr<bool> ItemLines::NextLine(std::string_view* line) {
  size_t searched = begin_;
  bool in_quotes = false;
  // A quote opens a cell at its beginning; right behind the quote that closes it, it belongs to the cell.
  bool may_open = true;
  while (true) {
    for (; searched < buffer_.size(); ++searched) {
      const char c = buffer_[searched];
      if (in_quotes) {
        may_open = c == '"';
        in_quotes = !may_open;
        continue;
      }
      if (c == '\n') break;
      in_quotes = may_open && c == '"' && format_ == ItemFormat::kCsv;
      may_open = c == ',';
    }
    if (searched < buffer_.size() || at_end_) break;
    buffer_.erase(0, begin_);
    searched -= begin_;
    begin_ = 0;
    if (buffer_.size() > kMaxLineBytes && in_quotes && buffer_.find('\n') != std::string::npos) break;
    if (buffer_.size() > kMaxLineBytes)
      return absl::InvalidArgumentError(absl::StrCat("line ", next_number_, " is longer than 8 MiB"));
    const size_t size = buffer_.size();
    buffer_.resize(size + kReadBytes);
    absl::StatusOr<size_t> count = text_.Read(buffer_.data() + size, kReadBytes);
    ITEMDB_RETURN_IF_ERROR(count.status());
    buffer_.resize(size + *count);
    at_end_ = *count == 0;
    if (size == 0 && next_number_ == 1 && std::string_view(buffer_).starts_with(kByteOrderMark)) {
      begin_ = kByteOrderMark.size();
      searched = begin_;
    }
  }
  if (begin_ == buffer_.size()) return false;
  // The quote is never closed: the line is an error, and those behind it are read.
  if (in_quotes) searched = std::min(buffer_.find('\n', begin_), searched);
  *line = std::string_view(buffer_).substr(begin_, searched - begin_);
  begin_ = std::min(searched + 1, buffer_.size());
  next_number_ += 1 + std::count(line->begin(), line->end(), '\n');
  if (line->ends_with('\r')) line->remove_suffix(1);
  return true;
}

absl::StatusOr<std::optional<ItemLines::Line>> ItemLines::Next() {
  while (true) {
    const int64_t number = next_number_;
    std::string_view line;
    ITEMDB_ASSIGN_OR_RETURN(const bool is_line, NextLine(&line));
    if (!is_line) return std::nullopt;
    // Spaces may be the only cell of a line of CSV.
    if (format_ == ItemFormat::kCsv ? line.empty() : WithoutLeadingSpace(line).empty()) continue;
    switch (format_) {
      case ItemFormat::kDynamoDbJson:
        return Line{.number = number, .bytes = line.size(), .item = ParseDynamoDbLine(line)};
      case ItemFormat::kJson:
        return Line{.number = number, .bytes = line.size(), .item = itemdb::ItemFromJson(line)};
      case ItemFormat::kCsv:
        if (!columns_.empty())
          return Line{.number = number, .bytes = line.size(), .item = ParseRow(line, number)};
        ITEMDB_RETURN_IF_ERROR(ReadHeader(line));
    }
  }
}

absl::Status ItemLines::ReadHeader(std::string_view line) {
  std::string reason;
  if (!SplitCsvLine(line, ',', &columns_, &reason))
    return absl::InvalidArgumentError("the line of names cannot be parsed: " + reason);
  std::set<std::string_view> seen;
  for (const std::string& name : columns_) {
    if (name.empty()) return absl::InvalidArgumentError("a name in the line of names is empty");
    if (!seen.insert(name).second)
      return absl::InvalidArgumentError("the line of names has the name " + name + " twice");
  }
  return absl::OkStatus();
}

absl::StatusOr<Item> ItemLines::ParseRow(std::string_view line, int64_t number) {
  std::string reason;
  if (!SplitCsvLine(line, ',', &cells_, &reason)) {
    // Perhaps a quote was not closed: the other lines of it are read by themselves.
    if (const size_t newline = line.find('\n'); newline != std::string_view::npos) {
      begin_ = static_cast<size_t>(line.data() - buffer_.data()) + newline + 1;
      next_number_ = number + 1;
    }
    return absl::InvalidArgumentError(reason);
  }
  if (cells_.size() != columns_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the line has ", cells_.size(), " cells, but there are ", columns_.size(), " columns"));
  }
  Item item;
  for (size_t i = 0; i < cells_.size(); ++i) {
    const auto type = types_.find(columns_[i]);
    absl::StatusOr<std::optional<Value>> value =
        ParseCell(cells_[i], type == types_.end() ? ColumnType::kText : type->second);
    if (!value.ok())
      return absl::InvalidArgumentError(absl::StrCat("column ", columns_[i], ": ", value.status().message()));
    if (value->has_value()) item.Set(columns_[i], **std::move(value));
  }
  return item;
}

}  // namespace itemdb::tools
