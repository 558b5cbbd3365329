// Columns of text for people: the `-o table` form of everything itemctl prints.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace itemdb::tools {

// Unicode code points in UTF-8 `text`: what a terminal needs for it, wide and combining characters aside.
size_t CodePoints(std::string_view text);

// Rows of cells under headings, padded to the widest cell of each column.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> headings);

  // `cells` may be shorter than the headings (the rest stays empty) but not longer. Control characters in a
  // cell are printed escaped, so that a row is one line and data cannot steer the terminal.
  void AddRow(const std::vector<std::string>& cells);

  bool empty() const { return rows_.empty(); }

  // Writes headings, a line below them and the rows; no spaces at line ends. Expanded: for each row a line
  // with its number, then "heading  cell" on a line for each cell that is not empty.
  void Print(std::ostream& out, bool expanded = false) const;

 private:
  void PrintExpanded(std::ostream& out) const;

  std::vector<std::string> headings_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace itemdb::tools
