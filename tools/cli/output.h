// The three forms of what itemctl writes to stdout, and the writers every command group uses.
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

// "table", "json" or "jsonl"; nothing for other names.
std::optional<OutputFormat> OutputFormatFromName(std::string_view name);

// `document` as json or jsonl asks. Not for kTable.
void PrintDocument(const JsonValue& document, OutputFormat format, std::ostream& out);

// A single item; as a table it stands upright, an attribute a line.
void PrintItem(const Item& item, OutputFormat format, ItemForm form, std::ostream& out);

// Items of one answer, written as they come.
//
// jsonl writes each at once. json writes one object, {"Items": [...]} and the members given to Finish. A
// table needs the widths of all its cells, so it is written in blocks of kTableBlock items, each with its own
// headings: memory stays bounded whatever the answer's length.
class ItemWriter {
 public:
  static constexpr size_t kTableBlock = 1000;

  struct Options {
    OutputFormat format = OutputFormat::kJsonLines;
    ItemForm form = ItemForm::kPlain;
    // kTable: items stand upright, an attribute a line.
    bool expanded = false;
    // Columns of a table that come first, where items have them; the others follow by name.
    std::vector<std::string> leading_columns = {};
    // kTable: as in TableLayout.
    size_t max_width = 0;
  };

  // `out` must outlive the writer.
  ItemWriter(Options options, std::ostream* out) : options_(std::move(options)), out_(*out) {}

  void Write(const Item& item);

  // Call once, after the last item. `summary` is an object; only json shows it.
  void Finish(const JsonValue& summary);

 private:
  void FlushTable();

  Options options_;
  std::ostream& out_;
  size_t written_ = 0;
  std::vector<Item> block_;  // kTable: not printed yet
};

}  // namespace itemdb::tools
