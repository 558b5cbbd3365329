#include "tools/text_table.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace itemdb::tools {
namespace {

constexpr std::string_view kColumnGap = "  ";

std::string Printable(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      absl::StrAppendFormat(&out, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      out.push_back(c);
    }
  }
  return out;
}

void PrintLine(const std::vector<std::string>& cells, const std::vector<size_t>& widths, std::ostream& out) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += kColumnGap;
    line += cells[i];
    line.append(widths[i] - std::min(widths[i], CodePoints(cells[i])), ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out << line << '\n';
}

}  // namespace

size_t CodePoints(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

TextTable::TextTable(std::vector<std::string> headings) : headings_(std::move(headings)) {
  for (std::string& heading : headings_) heading = Printable(heading);
}

void TextTable::AddRow(const std::vector<std::string>& cells) {
  std::vector<std::string>& row = rows_.emplace_back();
  for (const std::string& cell : cells) row.push_back(Printable(cell));
  row.resize(headings_.size());
}

void TextTable::Print(std::ostream& out, bool expanded) const {
  if (expanded) return PrintExpanded(out);
  std::vector<size_t> widths;
  for (const std::string& heading : headings_) widths.push_back(CodePoints(heading));
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], CodePoints(row[i]));
  }
  std::vector<std::string> rule;
  for (size_t width : widths) rule.emplace_back(width, '-');
  PrintLine(headings_, widths, out);
  PrintLine(rule, widths, out);
  for (const auto& row : rows_) PrintLine(row, widths, out);
}

void TextTable::PrintExpanded(std::ostream& out) const {
  size_t width = 0;
  for (const std::string& heading : headings_) width = std::max(width, CodePoints(heading));
  for (size_t i = 0; i < rows_.size(); ++i) {
    out << absl::StrFormat("-[ %d ]-\n", i + 1);
    for (size_t column = 0; column < headings_.size(); ++column) {
      if (!rows_[i][column].empty()) PrintLine({headings_[column], rows_[i][column]}, {width, 0}, out);
    }
  }
}

}  // namespace itemdb::tools
