// The lines of data files: one item each, in DynamoDB's JSON or in Ion (XPT-43, XPT-46).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "itemdb/v1/exports.pb.h"
#include "storage/catalog/table.h"
#include "storage/values/value_view.h"

namespace itemdb::storage {

// Not thread-safe.
class ExportLines {
 public:
  // `table` is borrowed.
  ExportLines(const Table& table, v1::ExportFormat format) : table_(table), format_(format) {}

  // Appends the line of an item, with its line end: the key attributes first, then the others by name.
  void AppendItem(ItemView item, std::string* out);

 private:
  // Appends the attributes of `item` as an object or a struct.
  void AppendAttributes(ItemView item, std::string* out);

  const Table& table_;
  const v1::ExportFormat format_;
  std::vector<AttributeView> attributes_;
};

}  // namespace itemdb::storage
