// Makes the text of one data file of items.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "itemdb/value.h"
#include "tools/files/item_format.h"

namespace itemdb::tools {

struct ItemTextOptions {
  ItemFormat format = ItemFormat::kDynamoDbJson;
  // Of CSV. Empty: `leading_columns`, then the names of all other attributes of the file's items, for which
  // the items are kept in memory. Attributes that are no columns are left out.
  std::vector<std::string> columns = {};
  std::vector<std::string> leading_columns = {};
};

// Not thread-safe.
class ItemText {
 public:
  // `options` and `*types` are borrowed. The types of what is written to CSV are noted in `*types`: a column
  // has a type other than text if all its values have it.
  ItemText(const ItemTextOptions& options, ColumnTypes* types) : options_(options), types_(*types) {}

  // Appends the lines of `item` to `*out`, or keeps it.
  void Add(Item item, std::string* out);
  // Appends what was kept. Call once.
  void Finish(std::string* out);
  int64_t item_count() const { return item_count_; }
  // The columns of what is kept are so many, or their names so long, that the file should end.
  bool has_many_cells() const {
    return kept_names_.size() * kept_.size() > kMaxKeptCells || kept_name_bytes_ > kMaxHeaderBytes;
  }
  // Bytes of text, an estimate for items that are kept.
  int64_t text_bytes() const { return text_bytes_; }

 private:
  static constexpr size_t kMaxKeptCells = 64 << 20;
  static constexpr size_t kMaxHeaderBytes = 1 << 20;

  std::vector<std::string> ColumnsOfKept() const;
  void AppendRow(const Item& item, const std::vector<std::string>& columns, std::string* out);
  void NoteType(const std::string& column, const Value& value);

  const ItemTextOptions& options_;
  ColumnTypes& types_;
  std::vector<Item> kept_;
  std::set<std::string, std::less<>> kept_names_;
  size_t kept_name_bytes_ = 0;
  int64_t item_count_ = 0;
  int64_t text_bytes_ = 0;
  // Of one row; a member, so that its memory is used again.
  std::vector<std::string> cells_;
};

}  // namespace itemdb::tools
