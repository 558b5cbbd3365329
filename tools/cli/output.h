// The output forms on stdout, and the writers that all commands use.
//
//   table  aligned columns, for people; may change
//   json   one JSON document over several lines
//   jsonl  one JSON document a line: one item, one change record, one table name, ... (stable, like json)
//   csv    RFC 4180 with a line of names: what jsonl prints, a member or attribute a column. Text is printed
//   as
//          it is, any other value as JSON.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "itemdb/value.h"
#include "tools/base/text_table.h"
#include "tools/json/item_json.h"
#include "tools/json/json_value.h"

namespace itemdb::tools {

enum class OutputFormat { kTable, kJson, kJsonLines, kCsv };

// The form called "table", "json", "jsonl" or "csv"; empty for other names.
std::optional<OutputFormat> OutputFormatFromName(std::string_view name);

// Prints `document` as json or jsonl; `format` must not be kTable or kCsv.
void PrintDocument(const JsonValue& document, OutputFormat format, std::ostream& out);

// Prints objects as csv. The columns are the members of all objects, in the order in which they come first.
void PrintCsv(const std::vector<JsonValue>& documents, std::ostream& out);

// Prints a single item; in the table form, one attribute a line.
void PrintItem(const Item& item, OutputFormat format, ItemForm form, std::ostream& out);

// Prints the items of one answer while they arrive.
//
// jsonl prints each item at once. json prints one object: {"Items": [...]} and the members given to Finish. A
// table needs the widths of all its cells, so it is printed in blocks of kTableBlock items, each block with
// its own headings; this bounds the memory for answers of any length. The columns of csv are
// `leading_columns` and the attributes of the first kTableBlock items.
class ItemWriter {
 public:
  static constexpr size_t kTableBlock = 1000;

  struct Options {
    OutputFormat format = OutputFormat::kJsonLines;
    ItemForm form = ItemForm::kPlain;
    // kTable: see text_table.h.
    TableLayout layout = {};
    // kTable, kCsv: the columns that come first, if items have them; the others follow in the order of their
    // names.
    std::vector<std::string> leading_columns = {};
    // kTable: print the number of items at the end.
    bool with_count = false;
  };

  // `out` must outlive the writer.
  ItemWriter(Options options, std::ostream* out) : options_(std::move(options)), out_(*out) {}

  // UsageError: with csv, the item has an attribute that is no column.
  absl::Status Write(const Item& item);

  // Call once, after the last item. `summary` is an object; only json prints it.
  void Finish(const JsonValue& summary);

 private:
  void FlushTable();
  absl::Status WriteCsv(const Item& item);

  Options options_;
  std::ostream& out_;
  size_t written_ = 0;
  // kTable: the items of earlier blocks.
  size_t printed_ = 0;
  std::vector<Item> block_;  // kTable, and the first block of kCsv: items not printed yet
  // kCsv: set when the names have been printed.
  std::vector<std::string> csv_columns_;
};

}  // namespace itemdb::tools
