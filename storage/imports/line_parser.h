// Parses the lines of imported objects: DynamoDB's JSON, CSV, and Ion as text. Lines of bulk puts may also
// have the condition of the put.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "itemdb/v1/imports.pb.h"
#include "itemdb/wire/data.pb.h"
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

// Parses lines that are puts (BLK-06): beside Item they may have ConditionExpression,
// ExpressionAttributeNames and ExpressionAttributeValues. A line with another member is a bad item: an import
// ignores such a member, but here it may be a condition with a mistake in its name. Not thread-safe.
class PutLineParser {
 public:
  virtual ~PutLineParser() = default;

  // As LineParser::Parse. kItem: sets the item, the condition and the placeholders of `*put`, whose other
  // fields are empty.
  virtual LineKind Parse(std::string_view line, wire::WriteItemRequest* put, std::string* reason) = 0;
};

// Why a line with the member `name`, or with two of them, is a bad item.
std::string UnknownPutMember(std::string_view name);
std::string RepeatedPutMember(std::string_view name);

// {"Item":{"pk":{"S":"a"}},"ConditionExpression":"attribute_not_exists(pk)"}
std::unique_ptr<PutLineParser> NewJsonPutParser();

// $ion_1_0 {Item:{pk:"a"},ConditionExpression:"attribute_not_exists(pk)"}
std::unique_ptr<PutLineParser> NewIonPutParser();

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
