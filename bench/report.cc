#include "bench/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace itemdb::bench {
namespace {

void PrintRow(const std::vector<std::string>& cells, const std::vector<size_t>& widths, std::ostream& out) {
  std::string line;
  for (size_t column = 0; column < cells.size(); ++column) {
    std::string padding(widths[column] - cells[column].size(), ' ');
    if (column > 0) line += "  ";
    line += column == 0 ? cells[column] + padding : padding + cells[column];
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out << line << '\n';
}

}  // namespace

Spread SpreadOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  size_t middle = values.size() / 2;
  double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {.median = median, .min = values.front(), .max = values.back()};
}

std::string Figure(double value) {
  double size = std::fabs(value);
  int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  char text[32];
  std::snprintf(text, sizeof(text), "%.*f", decimals, value);
  return text;
}

std::string Figure(const Spread& spread) {
  return Figure(spread.median) + " (" + Figure(spread.min) + "-" + Figure(spread.max) + ")";
}

nlohmann::ordered_json ToJson(const Spread& spread) {
  return {{"median", spread.median}, {"min", spread.min}, {"max", spread.max}};
}

void Report::Add(const TextTable& table, const std::vector<nlohmann::ordered_json>& lines) {
  if (format_ == Format::kJsonLines) {
    for (const auto& line : lines) *out_ << line.dump() << '\n';
    out_->flush();
    return;
  }
  std::vector<size_t> widths;
  for (const std::string& column : table.columns) widths.push_back(column.size());
  for (const auto& row : table.rows) {
    for (size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  }
  *out_ << table.title << '\n';
  if (!table.columns.empty()) PrintRow(table.columns, widths, *out_);
  for (const auto& row : table.rows) PrintRow(row, widths, *out_);
  for (const std::string& note : table.notes) *out_ << note << '\n';
  *out_ << std::endl;
}

}  // namespace itemdb::bench
