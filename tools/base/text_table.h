// Columns of text for people: the `-o table` form of everything itemctl prints.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace itemdb::tools {

// Unicode code points in UTF-8 `text`: what a terminal needs for it, wide and combining characters aside.
size_t CodePoints(std::string_view text);

// `text` with its control characters escaped ("\x0a"), so that it is one line and cannot steer the terminal.
std::string Printable(std::string_view text);

// A column of a TextTable. A heading alone is a column of text.
struct TableColumn {
  TableColumn(const char* text) : heading(text) {}             // NOLINT: implicit on purpose
  TableColumn(std::string text) : heading(std::move(text)) {}  // NOLINT: implicit on purpose

  std::string heading;
  // Every cell is a number or empty. Such a column is aligned to the right.
  bool is_number = false;
};

TableColumn NumberColumn(std::string heading);

struct TableLayout {
  // For each row a line with its number, then "heading  cell" on a line for each cell that is not empty.
  bool expanded = false;
  // Code points of the widest line; 0: as wide as the cells are. Not for expanded tables.
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
  // Where a line would be wider than `max_width`, the widest columns of text become narrower and their cells
  // go on in the next line: after a comma, else at a space, else anywhere. Nothing is cut. No column becomes
  // narrower than its heading, and columns of numbers keep their width, so that a table of many columns is
  // wider than `max_width` all the same.
  void Print(std::ostream& out, TableLayout layout = {}) const;

 private:
  // Of each column, in code points.
  std::vector<size_t> Widths(size_t max_width) const;
  // One row, in as many lines as its cells need.
  void PrintRow(const std::vector<std::string>& cells, const std::vector<size_t>& widths,
                std::ostream& out) const;
  void PrintExpanded(std::ostream& out) const;

  std::vector<TableColumn> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace itemdb::tools
