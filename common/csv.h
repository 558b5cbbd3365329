// Lines of CSV: RFC 4180 with a choice of delimiters. A cell that begins with a quote ends with one, and a
// quote in it is written twice. A quote anywhere else is an error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace itemdb {

// Splits a line, without its end, into cells. False: it cannot be parsed, and `*reason` says why. Strings in
// `*cells` are used again.
bool SplitCsvLine(std::string_view line, char delimiter, std::vector<std::string>* cells,
                  std::string* reason);

// Appends a cell of a line with commas: in quotes if it has a comma, a quote or a line break.
void AppendCsvCell(std::string_view text, std::string* line);
// Appends the cells and a newline.
void AppendCsvLine(const std::vector<std::string>& cells, std::string* out);

}  // namespace itemdb
