#include "tools/base/text_table.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "tools/base/control_characters.h"
#include "tools/base/text_width.h"

namespace itemdb::tools {
namespace {

constexpr std::string_view kColumnGap = "  ";

// A table with a cell that needs more lines than this is easier to read when it is expanded.
constexpr size_t kMaxCellLines = 6;
// So is a table with a column of text that is narrower than this and than its cells.
constexpr size_t kNarrowestText = 8;
// Longer words are broken before other columns become too narrow.
constexpr size_t kLongestWholeWord = 30;

// Splits `cell` into lines of at most `width` columns: after a comma in the second half of the line, else at
// a space, else anywhere. The space at a break is left out.
std::vector<std::string_view> BrokenIntoLines(std::string_view cell, size_t width) {
  std::vector<std::string_view> lines;
  size_t left = TextWidth(cell);
  while (left > width) {
    size_t line = BytesWithin(cell, width);
    // A wide character in a column of width 1.
    if (line == 0) line = BytesWithin(cell, 2);
    size_t next = line;
    // A break is also possible at a space just after the last character that fits.
    const size_t comma = cell.rfind(", ", line - 1);
    const size_t space = cell.rfind(' ', line);
    const size_t indent = std::min(cell.find_first_not_of(' '), cell.size());
    if (comma != std::string_view::npos && 2 * (comma + 1) >= line) {
      line = comma + 1;
      next = comma + 2;
    } else if (space != std::string_view::npos && space > indent) {
      line = space;
      next = space + 1;
    }
    lines.push_back(cell.substr(0, line));
    left -= TextWidth(cell.substr(0, next));
    cell.remove_prefix(next);
  }
  lines.push_back(cell);
  return lines;
}

// The width of the longest word, with the spaces before the first.
size_t LongestWord(std::string_view text) {
  const size_t indent = std::min(text.find_first_not_of(' '), text.size());
  size_t longest = 0;
  if (indent > 0) return indent + LongestWord(text.substr(indent));
  while (!text.empty()) {
    const size_t space = std::min(text.find(' '), text.size());
    longest = std::max(longest, TextWidth(text.substr(0, space)));
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return longest;
}

size_t LineWidth(const std::vector<size_t>& widths) {
  size_t line = kColumnGap.size() * (std::max<size_t>(widths.size(), 1) - 1);
  for (const size_t width : widths) line += width;
  return line;
}

void PrintTrimmed(std::string line, std::ostream& out) {
  line.erase(line.find_last_not_of(' ') + 1);
  out << line << '\n';
}

}  // namespace

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

TableColumn WholeColumn(std::string heading) {
  TableColumn column(std::move(heading));
  column.is_whole = true;
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
  if (layout.expanded || (layout.expand_if_too_wide && layout.max_width > 0 && !Fits(layout.max_width)))
    return PrintExpanded(out, layout.first_row);
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

bool TextTable::Fits(size_t max_width) const {
  if (columns_.size() <= 2) return true;
  const std::vector<size_t> widths = Widths(max_width);
  if (LineWidth(widths) > max_width) return false;
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      if (widths[i] < std::min(TextWidth(row[i]), kNarrowestText)) return false;
      if (BrokenIntoLines(row[i], widths[i]).size() > kMaxCellLines) return false;
    }
  }
  return true;
}

std::vector<size_t> TextTable::Widths(size_t max_width) const {
  std::vector<size_t> widths;
  std::vector<size_t> narrowest;
  // As long as others can become narrower, no column breaks its words.
  std::vector<size_t> with_words;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t widest_cell = 0;
    size_t longest_word = 0;
    for (const auto& row : rows_) {
      widest_cell = std::max(widest_cell, TextWidth(row[i]));
      if (max_width > 0) longest_word = std::max(longest_word, LongestWord(row[i]));
    }
    widths.push_back(std::max(TextWidth(columns_[i].heading), widest_cell));
    const size_t unbroken = columns_[i].is_number || columns_[i].is_whole ? widest_cell : 1;
    narrowest.push_back(std::max(LongestWord(columns_[i].heading), unbroken));
    with_words.push_back(std::max(narrowest.back(), std::min(longest_word, kLongestWholeWord)));
  }
  if (max_width == 0) return widths;
  for (const std::vector<size_t>& bound : {with_words, narrowest}) {
    for (size_t line = LineWidth(widths); line > max_width; --line) {
      size_t* widest = nullptr;
      for (size_t i = 0; i < widths.size(); ++i) {
        if (widths[i] <= bound[i]) continue;
        if (widest == nullptr || widths[i] > *widest) widest = &widths[i];
      }
      if (widest == nullptr) break;
      --*widest;
    }
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
      const std::string padding(widths[i] - std::min(TextWidth(part), widths[i]), ' ');
      if (i > 0) text += kColumnGap;
      if (columns_[i].is_number) text += padding;
      text += part;
      if (!columns_[i].is_number) text += padding;
    }
    PrintTrimmed(std::move(text), out);
  }
}

void TextTable::PrintExpanded(std::ostream& out, size_t first_row) const {
  size_t width = 0;
  for (const TableColumn& column : columns_) width = std::max(width, TextWidth(column.heading));
  for (size_t i = 0; i < rows_.size(); ++i) {
    out << absl::StrFormat("-[ %d ]-\n", first_row + i);
    for (size_t column = 0; column < columns_.size(); ++column) {
      if (rows_[i][column].empty()) continue;
      std::string line = columns_[column].heading;
      line.append(width - TextWidth(line), ' ');
      line += kColumnGap;
      PrintTrimmed(line + rows_[i][column], out);
    }
  }
}

}  // namespace itemdb::tools
