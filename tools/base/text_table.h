// Columns of text for people: what itemctl prints with `-o table`.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace itemdb::tools {

// `text` with its control characters escaped ("\x0a"): one line, without control sequences for a terminal.
std::string Printable(std::string_view text);

// A column of a TextTable. A heading converts to a column of text.
struct TableColumn {
  TableColumn(const char* text) : heading(text) {}             // NOLINT: implicit on purpose
  TableColumn(std::string text) : heading(std::move(text)) {}  // NOLINT: implicit on purpose

  std::string heading;
  // Every cell is a number or empty. Such a column is aligned to the right.
  bool is_number = false;
  // Its cells are copied as a whole, as an ARN is: they are not broken.
  bool is_whole = false;
};

TableColumn NumberColumn(std::string heading);
TableColumn WholeColumn(std::string heading);

struct TableLayout {
  // Prints each row as a line with its number, then a line "heading  cell" for each cell that is not empty.
  bool expanded = false;
  // Largest line width in columns of the terminal; 0: no bound. Ignored for expanded tables.
  size_t max_width = 0;
  // Prints the table as if `expanded` were set if it does not fit into `max_width`.
  bool expand_if_too_wide = false;
  // The number of the first row when expanded: the rows of a long answer come in several tables.
  size_t first_row = 1;
};

// Rows of cells under headings, padded to the widest cell of each column.
class TextTable {
 public:
  explicit TextTable(std::vector<TableColumn> columns);

  // `cells` may be shorter than the headings (the rest stays empty) but not longer. They are made Printable.
  void AddRow(const std::vector<std::string>& cells);

  bool empty() const { return rows_.empty(); }
  size_t row_count() const { return rows_.size(); }

  // The table can be printed with lines of `max_width` columns, and no cell needs more than six of them. A
  // table of two columns always fits, because it would not be easier to read when it is expanded.
  bool Fits(size_t max_width) const;

  // Writes headings, a line below them and the rows; no spaces at line ends.
  //
  // If a line would be wider than `max_width`, headings of several words are broken at their spaces. The
  // widest columns of text become narrower and their cells continue on the next line: after a comma, else at
  // a space, else anywhere. No text is left out. No column becomes narrower than the longest word of its
  // heading, and cells of numbers and of whole columns are not broken, so a table of many columns can still
  // be wider than `max_width`.
  void Print(std::ostream& out, TableLayout layout = {}) const;

 private:
  // The width of each column on a terminal.
  std::vector<size_t> Widths(size_t max_width) const;
  // Prints one row, on as many lines as its cells need.
  void PrintRow(const std::vector<std::string>& cells, const std::vector<size_t>& widths,
                std::ostream& out) const;
  void PrintExpanded(std::ostream& out, size_t first_row) const;

  std::vector<TableColumn> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace itemdb::tools
