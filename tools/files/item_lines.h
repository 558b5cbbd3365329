// Reads the items of a data file, line by line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/compression/byte_source.h"
#include "itemdb/value.h"
#include "tools/files/item_format.h"

namespace itemdb::tools {

// Not thread-safe.
class ItemLines {
 public:
  // A line may be this long. The JSON of the largest item takes less.
  static constexpr size_t kMaxLineBytes = 8 << 20;

  struct Line {
    // Counted from 1; of CSV the number of its first line.
    int64_t number = 0;
    size_t bytes = 0;
    // INVALID_ARGUMENT: why the line is no item.
    absl::StatusOr<Item> item;
  };

  // `text` and `types` are borrowed. The cells of columns without a type are text.
  ItemLines(ByteSource& text, ItemFormat format, const ColumnTypes& types)
      : text_(text), format_(format), types_(types) {}

  // The next line that is not blank, or of CSV not empty; nothing at the end. INVALID_ARGUMENT: a line is too
  // long, the line of names of CSV cannot be used, or the file cannot be decompressed. Errors of the source.
  absl::StatusOr<std::optional<Line>> Next();
  // The line that Next() would read.
  int64_t next_number() const { return next_number_; }
  // Blank lines may be items without an attribute that is a column.
  bool has_one_column() const { return columns_.size() == 1; }

 private:
  // Sets `*line` to the next line without its end; valid until the next call. False: the end.
  absl::StatusOr<bool> NextLine(std::string_view* line);
  absl::Status ReadHeader(std::string_view line);
  // What cannot be split into cells ends behind its first line: the next line is read from there.
  absl::StatusOr<Item> ParseRow(std::string_view line, int64_t number);

  ByteSource& text_;
  const ItemFormat format_;
  const ColumnTypes& types_;
  // What was read; the part before `begin_` was returned.
  std::string buffer_;
  size_t begin_ = 0;
  bool at_end_ = false;
  int64_t next_number_ = 1;
  // Of CSV.
  std::vector<std::string> columns_;
  std::vector<std::string> cells_;
};

}  // namespace itemdb::tools
