// Parses the lines of imported objects: DynamoDB's JSON, CSV, and Ion as text.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "itemdb/v1/imports.pb.h"
#include "storage/catalog/table.h"

namespace itemdb::storage {

// What was found in a line.
enum class LineKind : uint8_t {
  kItem,
  // No item: a blank line, for example.
  kNothing,
  // An item that cannot be stored. The next line may be good (IMP-11).
  kBadItem,
  // The line cannot be parsed, so the lines after it are not read (IMP-12).
  kBadLine,
};

// Not thread-safe: each thread has its own.
class LineParser {
 public:
  virtual ~LineParser() = default;

  // Parses `line`, which has no newline and is followed by kLinePadding readable bytes. kItem: sets `*item`
  // to an encoded itemdb.v1.Item, which need not be canonical. kBadItem, kBadLine: sets `*reason` to a
  // sentence.
  virtual LineKind Parse(std::string_view line, std::string* item, std::string* reason) = 0;
};

// {"Item":{"pk":{"S":"a"}}}: IMP-16.
std::unique_ptr<LineParser> NewJsonLineParser();

// $ion_1_0 {Item:{pk:"a"}}: IMP-17, XPT-46.
std::unique_ptr<LineParser> NewIonLineParser();

// The columns of a CSV object.
struct CsvColumn {
  std::string name;
  // Of a key attribute of the table or of an index its type, otherwise S.
  v1::ScalarAttributeType type = v1::SCALAR_ATTRIBUTE_TYPE_S;
};

// The cells of `columns` as attributes of one item (IMP-18).
std::unique_ptr<LineParser> NewCsvLineParser(std::vector<CsvColumn> columns, char delimiter);

// The columns of a header: either a line of CSV or a list of names. INVALID_ARGUMENT: the line cannot be
// parsed, or a name is empty, occurs twice or is not valid UTF-8.
absl::StatusOr<std::vector<CsvColumn>> ParseCsvHeader(std::string_view line, char delimiter,
                                                      const Table& table);
absl::StatusOr<std::vector<CsvColumn>> CsvColumnsOf(const std::vector<std::string>& names,
                                                    const Table& table);

}  // namespace itemdb::storage
