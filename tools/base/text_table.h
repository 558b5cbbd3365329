// Columns of text for people: what itemctl prints with `-o table`.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace itemdb::tools {

// The number of Unicode code points in UTF-8 `text`. This is its width on a terminal unless it has wide or
// combining characters.
size_t CodePoints(std::string_view text);

// `text` with its control characters escaped ("\x0a"): one line, without control sequences for a terminal.
std::string Printable(std::string_view text);

// A column of a TextTable. A heading converts to a column of text.
struct TableColumn {
  TableColumn(const char* text) : heading(text) {}             // NOLINT: implicit on purpose
  TableColumn(std::string text) : heading(std::move(text)) {}  // NOLINT: implicit on purpose

  std::string heading;
  // Every cell is a number or empty. Such a column is aligned to the right.
  bool is_number = false;
};

TableColumn NumberColumn(std::string heading);

struct TableLayout {
  // Prints each row as a line with its number, then a line "heading  cell" for each cell that is not empty.
  bool expanded = false;
  // Largest line width in code points; 0: no bound. Ignored for expanded tables.
  size_t max_width = 0;
};

// Rows of cells under headings, padded to the widest cell of each column.
class TextTable {
 public:
  explicit TextTable(std::vector<TableColumn> columns);

  // `cells` may be shorter than the headings (the rest stays empty) but not longer. They are made Printable.
  void AddRow(const std::vector<std::string>& cells);

  bool empty() const { return rows_.empty(); }

  // Writes headings, a line below them and the rows; no spaces at line ends.
  //
  // If a line would be wider than `max_width`, the widest columns of text become narrower and their cells
  // continue on the next line: after a comma, else at a space, else anywhere. No text is left out. No column
  // becomes narrower than its heading, and columns of numbers keep their width, so a table of many columns
  // can still be wider than `max_width`.
  void Print(std::ostream& out, TableLayout layout = {}) const;

 private:
  // The width of each column, in code points.
  std::vector<size_t> Widths(size_t max_width) const;
  // Prints one row, on as many lines as its cells need.
  void PrintRow(const std::vector<std::string>& cells, const std::vector<size_t>& widths,
                std::ostream& out) const;
  void PrintExpanded(std::ostream& out) const;

  std::vector<TableColumn> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace itemdb::tools
