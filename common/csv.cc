#include "common/csv.h"

#include <cstddef>

namespace itemdb {
namespace {

constexpr char kQuote = '"';

}  // namespace

bool SplitCsvLine(std::string_view line, char delimiter, std::vector<std::string>* cells,
                  std::string* reason) {
  size_t count = 0;
  for (bool more = true; more; ++count) {
    if (count == cells->size()) cells->emplace_back();
    std::string& cell = (*cells)[count];
    cell.clear();
    if (line.starts_with(kQuote)) {
      for (line.remove_prefix(1);;) {
        const size_t quote = line.find(kQuote);
        if (quote == std::string_view::npos) {
          *reason = "a cell begins with a quote and does not end with one";
          return false;
        }
        cell.append(line.substr(0, quote));
        line.remove_prefix(quote + 1);
        if (!line.starts_with(kQuote)) break;
        cell.push_back(kQuote);
        line.remove_prefix(1);
      }
      if (!line.empty() && line.front() != delimiter) {
        *reason = "something follows the quote that ends a cell";
        return false;
      }
    } else {
      cell = line.substr(0, line.find(delimiter));
      line.remove_prefix(cell.size());
      if (cell.find(kQuote) != std::string::npos) {
        *reason = "a quote is in a cell that does not begin with one";
        return false;
      }
    }
    more = !line.empty();
    if (more) line.remove_prefix(1);
  }
  cells->resize(count);
  return true;
}

void AppendCsvCell(std::string_view text, std::string* line) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    line->append(text);
    return;
  }
  line->push_back(kQuote);
  for (const char c : text) {
    if (c == kQuote) line->push_back(kQuote);
    line->push_back(c);
  }
  line->push_back(kQuote);
}

void AppendCsvLine(const std::vector<std::string>& cells, std::string* out) {
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) out->push_back(',');
    AppendCsvCell(cells[i], out);
  }
  out->push_back('\n');
}

}  // namespace itemdb
