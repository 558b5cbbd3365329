// The three output forms on stdout, and the writers that all commands use.
//
//   table  aligned columns, for people; may change
//   json   one JSON document over several lines
//   jsonl  one JSON document a line: one item, one change record, one table name, ... (stable, like json)
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "itemdb/value.h"
#include "tools/json/item_json.h"
#include "tools/json/json_value.h"

namespace itemdb::tools {

enum class OutputFormat { kTable, kJson, kJsonLines };

// The form called "table", "json" or "jsonl"; empty for other names.
std::optional<OutputFormat> OutputFormatFromName(std::string_view name);

// Prints `document` as json or jsonl; `format` must not be kTable.
void PrintDocument(const JsonValue& document, OutputFormat format, std::ostream& out);

// Prints a single item; in the table form, one attribute a line.
void PrintItem(const Item& item, OutputFormat format, ItemForm form, std::ostream& out);

// Prints the items of one answer while they arrive.
//
// jsonl prints each item at once. json prints one object: {"Items": [...]} and the members given to Finish. A
// table needs the widths of all its cells, so it is printed in blocks of kTableBlock items, each block with
// its own headings; this bounds the memory for answers of any length.
class ItemWriter {
 public:
  static constexpr size_t kTableBlock = 1000;

  struct Options {
    OutputFormat format = OutputFormat::kJsonLines;
    ItemForm form = ItemForm::kPlain;
    // kTable: one attribute a line.
    bool expanded = false;
    // kTable: the columns that come first, if items have them; the others follow in the order of their names.
    std::vector<std::string> leading_columns = {};
    // kTable: as in TableLayout.
    size_t max_width = 0;
  };

  // `out` must outlive the writer.
  ItemWriter(Options options, std::ostream* out) : options_(std::move(options)), out_(*out) {}

  void Write(const Item& item);

  // Call once, after the last item. `summary` is an object; only json prints it.
  void Finish(const JsonValue& summary);

 private:
  void FlushTable();

  Options options_;
  std::ostream& out_;
  size_t written_ = 0;
  std::vector<Item> block_;  // kTable: items not printed yet
};

}  // namespace itemdb::tools
