#include "tools/base/text_table.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "tools/base/control_characters.h"

namespace itemdb::tools {
namespace {

constexpr std::string_view kColumnGap = "  ";

// The number of bytes of the first `count` code points of `text`, which has at least `count`.
size_t BytesOf(std::string_view text, size_t count) {
  size_t bytes = 0;
  for (; count > 0; --count) {
    ++bytes;
    while (bytes < text.size() && (text[bytes] & 0xC0) == 0x80) ++bytes;
  }
  return bytes;
}

// Splits `cell` into lines of at most `width` code points: after a comma, else at a space, else anywhere. The
// space at a break is left out.
std::vector<std::string_view> BrokenIntoLines(std::string_view cell, size_t width) {
  std::vector<std::string_view> lines;
  size_t left = CodePoints(cell);
  while (left > width) {
    size_t line = BytesOf(cell, width);
    size_t next = line;
    // A break is also possible at a space just after the last character that fits.
    const size_t comma = cell.rfind(", ", line - 1);
    const size_t space = cell.rfind(' ', line);
    if (comma != std::string_view::npos) {
      line = comma + 1;
      next = comma + 2;
    } else if (space != std::string_view::npos && space > 0) {
      line = space;
      next = space + 1;
    }
    lines.push_back(cell.substr(0, line));
    left -= CodePoints(cell.substr(0, next));
    cell.remove_prefix(next);
  }
  lines.push_back(cell);
  return lines;
}

void PrintTrimmed(std::string line, std::ostream& out) {
  line.erase(line.find_last_not_of(' ') + 1);
  out << line << '\n';
}

}  // namespace

size_t CodePoints(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

std::string Printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t control = ControlCharacterBytes(text);
    if (control > 0) {
      absl::StrAppendFormat(&out, "\\x%02x", ControlCharacter(text, control));
    } else {
      out.push_back(text.front());
    }
    text.remove_prefix(std::max<size_t>(control, 1));
  }
  return out;
}

TableColumn NumberColumn(std::string heading) {
  TableColumn column(std::move(heading));
  column.is_number = true;
  return column;
}

TextTable::TextTable(std::vector<TableColumn> columns) : columns_(std::move(columns)) {
  for (TableColumn& column : columns_) column.heading = Printable(column.heading);
}

void TextTable::AddRow(const std::vector<std::string>& cells) {
  std::vector<std::string>& row = rows_.emplace_back();
  for (const std::string& cell : cells) row.push_back(Printable(cell));
  row.resize(columns_.size());
}

void TextTable::Print(std::ostream& out, TableLayout layout) const {
  if (layout.expanded) return PrintExpanded(out);
  const std::vector<size_t> widths = Widths(layout.max_width);
  std::vector<std::string> headings;
  std::vector<std::string> rule;
  for (size_t i = 0; i < columns_.size(); ++i) {
    headings.push_back(columns_[i].heading);
    rule.emplace_back(widths[i], '-');
  }
  PrintRow(headings, widths, out);
  PrintRow(rule, widths, out);
  for (const auto& row : rows_) PrintRow(row, widths, out);
}

std::vector<size_t> TextTable::Widths(size_t max_width) const {
  std::vector<size_t> widths;
  for (const TableColumn& column : columns_) widths.push_back(CodePoints(column.heading));
  const std::vector<size_t> narrowest = widths;
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], CodePoints(row[i]));
  }
  if (max_width == 0) return widths;
  size_t line = kColumnGap.size() * (std::max<size_t>(widths.size(), 1) - 1);
  for (const size_t width : widths) line += width;
  for (; line > max_width; --line) {
    size_t* widest = nullptr;
    for (size_t i = 0; i < widths.size(); ++i) {
      if (columns_[i].is_number || widths[i] <= std::max<size_t>(narrowest[i], 1)) continue;
      if (widest == nullptr || widths[i] > *widest) widest = &widths[i];
    }
    if (widest == nullptr) break;
    --*widest;
  }
  return widths;
}

void TextTable::PrintRow(const std::vector<std::string>& cells, const std::vector<size_t>& widths,
                         std::ostream& out) const {
  std::vector<std::vector<std::string_view>> lines_of_cells;
  size_t line_count = 1;
  for (size_t i = 0; i < cells.size(); ++i) {
    lines_of_cells.push_back(BrokenIntoLines(cells[i], widths[i]));
    line_count = std::max(line_count, lines_of_cells.back().size());
  }
  for (size_t line = 0; line < line_count; ++line) {
    std::string text;
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string_view part = line < lines_of_cells[i].size() ? lines_of_cells[i][line] : "";
      const std::string padding(widths[i] - CodePoints(part), ' ');
      if (i > 0) text += kColumnGap;
      if (columns_[i].is_number) text += padding;
      text += part;
      if (!columns_[i].is_number) text += padding;
    }
    PrintTrimmed(std::move(text), out);
  }
}

void TextTable::PrintExpanded(std::ostream& out) const {
  size_t width = 0;
  for (const TableColumn& column : columns_) width = std::max(width, CodePoints(column.heading));
  for (size_t i = 0; i < rows_.size(); ++i) {
    out << absl::StrFormat("-[ %d ]-\n", i + 1);
    for (size_t column = 0; column < columns_.size(); ++column) {
      if (rows_[i][column].empty()) continue;
      std::string line = columns_[column].heading;
      line.append(width - CodePoints(line), ' ');
      line += kColumnGap;
      PrintTrimmed(line + rows_[i][column], out);
    }
  }
}

}  // namespace itemdb::tools
